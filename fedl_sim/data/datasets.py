"""MNIST, Fashion-MNIST, and the small digits data set, which is part of the package.

The files of the first two are looked for in the folder that `FEDSIFT_DATA_DIR` names, by default `data/`. It holds
`mnist/` and `fashion-mnist/`. A missing file is downloaded into it. Every file is checked against its published MD5
sum. The digits are the test set of UCI's "Optical Recognition of Handwritten Digits", see NOTICE.
"""

import gzip
import hashlib
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fedl_sim.contract import DATA_FILES, DATA_SETS
from fedl_sim.data.download import download
from fedl_sim.data.idx import read_idx_gz
from fedl_sim.data.images import Images
from fedl_sim.errors import DataSetError

__all__ = ["DATA_SETS", "DataSet", "Fetch", "load_data_set"]

_MD5 = {
    "mnist": (
        "f68b3c2dcbeaaa9fbdd348bbdeb94873",
        "d53e105ee54ea40749a09fcbcd1e9432",
        "9fb629c4189551a2d022fa330f9573f3",
        "ec29112dd5afa0611ce80d1b7f02629c",
    ),
    "fashion-mnist": (
        "8d4fb7e6c68d591d4c3dfef9ec88bf0d",
        "25c81989df183df01b3e8a0aad5dffbe",
        "bef4ecab320f06d8554ea6380940ec79",
        "bb300cfdad3c16e7a12a480ee83cd310",
    ),
}
_MIRROR = {
    "mnist": "https://ossci-datasets.s3.amazonaws.com/mnist/",
    "fashion-mnist": "https://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
}
_DIGITS_TEST_SHARE = 5  # every fifth digit is kept for testing

Fetch = Callable[[str, Path], bytes]


@dataclass(frozen=True, eq=False)
class DataSet:
    """A training split, into which devices hold indices, and a test split, on which models are evaluated."""

    name: str
    train: Images
    test: Images


def load_data_set(name: str, *, folders: Iterable[Path] | None = None, fetch: Fetch = download) -> DataSet:
    """Load a data set by name, from local folders first.

    Args:
        name: one of `DATA_SETS`.
        folders: where to look and, in the first one, to store; default as the module says.
        fetch: how to download an address to a path; the default shows a progress bar.

    Raises:
        DataSetError: unknown name, damaged file, or neither found nor downloadable.
    """
    if name == "digits":
        return _digits()
    if name not in _MD5:
        raise DataSetError(f"unknown data set {name!r}; known: {', '.join(DATA_SETS)}")
    places = list(folders) if folders is not None else _default_folders()
    arrays = [
        read_idx_gz(_find(name, file, md5, places, fetch)) for file, md5 in zip(DATA_FILES, _MD5[name], strict=True)
    ]
    scale, shift = _standardisation(arrays[0])
    train, test = (_images(arrays[i], arrays[i + 1], scale, shift) for i in (0, 2))
    return DataSet(name, train, test)


def _default_folders() -> list[Path]:
    return [Path(os.environ.get("FEDSIFT_DATA_DIR") or "data")]


def _find(name: str, file: str, md5: str, folders: list[Path], fetch: Fetch) -> bytes:
    for folder in folders:
        path = folder / name / file
        if path.is_file():
            return _checked(path.read_bytes(), md5, path)
    target = folders[0] / name / file
    try:
        raw = fetch(_MIRROR[name] + file, target)
    except OSError as error:
        places = ", ".join(str(folder / name) for folder in folders)
        raise DataSetError(
            f"{file} of {name} is neither in {places} nor could it be downloaded ({error}). "
            "Put the four IDX files there, or set FEDSIFT_DATA_DIR to the folder that holds "
            f"{name}/; the data set 'digits' needs no files."
        ) from error
    try:
        return _checked(raw, md5, target)
    except DataSetError:
        target.unlink(missing_ok=True)
        raise


def _checked(raw: bytes, md5: str, path: Path) -> bytes:
    found = hashlib.md5(raw, usedforsecurity=False).hexdigest()
    if found != md5:
        raise DataSetError(f"{path} is damaged: its MD5 is {found}, the published one {md5}; delete it and try again")
    return raw


def _standardisation(pixels: NDArray[np.uint8]) -> tuple[float, float]:
    """Return scale and shift that give the training pixels mean 0 and deviation 1."""
    # From a histogram: a float copy of the images would be eight times their size.
    counts = np.bincount(pixels.reshape(-1), minlength=256)
    values = np.arange(256)
    mean = float(counts @ values / counts.sum())
    deviation = float(np.sqrt(counts @ (values - mean) ** 2 / counts.sum()))
    return 1 / deviation, -mean / deviation


def _images(pixels: NDArray[np.uint8], labels: NDArray[np.uint8], scale: float, shift: float) -> Images:
    side = pixels.shape[1]
    flat = np.ascontiguousarray(pixels.reshape(len(pixels), -1))
    return Images(flat, labels.astype(np.int64), side, classes=10, scale=scale, shift=shift)


def _digits() -> DataSet:
    with gzip.open(Path(__file__).with_name("digits.csv.gz"), "rt") as file:
        table = np.loadtxt(file, delimiter=",", dtype=np.uint8)
    pixels, labels = table[:, :-1].reshape(-1, 8, 8), table[:, -1]
    test = np.arange(len(labels)) % _DIGITS_TEST_SHARE == 0
    scale, shift = _standardisation(pixels[~test])
    return DataSet(
        "digits",
        _images(pixels[~test], labels[~test], scale, shift),
        _images(pixels[test], labels[test], scale, shift),
    )
