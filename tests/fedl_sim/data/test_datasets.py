import gzip
import hashlib
from pathlib import Path

import numpy as np
import pytest

from fedl_sim.contract import DATA_FILES
from fedl_sim.data import datasets
from fedl_sim.data.datasets import load_data_set
from fedl_sim.errors import DataSetError


def idx(array: np.ndarray) -> bytes:
    header = bytes([0, 0, 8, array.ndim]) + b"".join(n.to_bytes(4, "big") for n in array.shape)
    return gzip.compress(header + array.astype(np.uint8).tobytes())


@pytest.fixture
def tiny_mnist(monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes]:
    """Publish a made-up MNIST of 28×28 images under its own MD5 sums."""
    generator = np.random.default_rng(0)
    contents = []
    for count in (30, 12):
        contents.append(idx(generator.integers(0, 256, (count, 28, 28))))
        contents.append(idx(np.arange(count) % 10))
    sums = tuple(hashlib.md5(raw).hexdigest() for raw in contents)
    monkeypatch.setitem(datasets._MD5, "mnist", sums)
    return dict(zip(DATA_FILES, contents, strict=True))


def no_network(address: str, target: Path) -> bytes:
    raise OSError("no route to host")


def put(folder: Path, files: dict[str, bytes]) -> None:
    (folder / "mnist").mkdir(parents=True)
    for name, raw in files.items():
        (folder / "mnist" / name).write_bytes(raw)


class TestIdxFiles:
    def test_a_local_folder_is_enough(self, tmp_path: Path, tiny_mnist: dict[str, bytes]) -> None:
        put(tmp_path, tiny_mnist)
        data = load_data_set("mnist", folders=[tmp_path], fetch=no_network)
        assert (len(data.train), len(data.test)) == (30, 12)
        assert data.train.pixels.dtype == np.uint8
        features = data.train.features(np.arange(30), np.float64)
        assert features.mean() == pytest.approx(0, abs=1e-9)
        assert features.std() == pytest.approx(1, rel=1e-9)

    def test_the_named_folder_wins(
        self, tmp_path: Path, tiny_mnist: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        put(tmp_path / "named", tiny_mnist)
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("FEDSIFT_DATA_DIR", str(tmp_path / "named"))
        assert len(load_data_set("mnist", fetch=no_network).test) == 12

    def test_a_missing_file_is_fetched_into_the_first_folder(
        self, tmp_path: Path, tiny_mnist: dict[str, bytes]
    ) -> None:
        asked: list[str] = []

        def fetch(address: str, target: Path) -> bytes:
            asked.append(address)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(tiny_mnist[target.name])
            return tiny_mnist[target.name]

        first = load_data_set("mnist", folders=[tmp_path / "a", tmp_path / "b"], fetch=fetch)
        again = load_data_set("mnist", folders=[tmp_path / "a", tmp_path / "b"], fetch=no_network)
        assert len(asked) == 4
        assert all(address.startswith("https://") for address in asked)
        np.testing.assert_array_equal(first.train.pixels, again.train.pixels)

    def test_a_damaged_file_is_named(self, tmp_path: Path, tiny_mnist: dict[str, bytes]) -> None:
        put(tmp_path, {**tiny_mnist, "t10k-labels-idx1-ubyte.gz": b"nonsense"})
        with pytest.raises(DataSetError, match=r"t10k-labels-idx1-ubyte\.gz is damaged"):
            load_data_set("mnist", folders=[tmp_path], fetch=no_network)

    def test_a_damaged_download_is_not_kept(self, tmp_path: Path, tiny_mnist: dict[str, bytes]) -> None:
        def fetch(address: str, target: Path) -> bytes:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(b"an error page")
            return b"an error page"

        with pytest.raises(DataSetError, match="damaged"):
            load_data_set("mnist", folders=[tmp_path], fetch=fetch)
        assert not list((tmp_path / "mnist").iterdir())

    def test_neither_found_nor_fetched_says_what_to_do(self, tmp_path: Path) -> None:
        with pytest.raises(DataSetError, match=r"FEDSIFT_DATA_DIR.*digits"):
            load_data_set("mnist", folders=[tmp_path], fetch=no_network)


def test_digits_are_always_there() -> None:
    data = load_data_set("digits", fetch=no_network)
    assert (data.train.side, data.train.classes) == (8, 10)
    assert (len(data.train), len(data.test)) == (1437, 360)
    assert set(data.test.labels) == set(range(10))


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(DataSetError, match="digits, mnist, fashion-mnist"):
        load_data_set("cifar")
