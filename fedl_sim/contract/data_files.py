"""The files of the data sets that are not part of the package, and which data sets a folder has."""

from pathlib import Path

from fedl_sim.contract.names import DATA_SETS

__all__ = ["DATA_FILES", "data_sets_in"]

# In a folder of the data set's name: training images and labels, test images and labels.
DATA_FILES = (
    "train-images-idx3-ubyte.gz",
    "train-labels-idx1-ubyte.gz",
    "t10k-images-idx3-ubyte.gz",
    "t10k-labels-idx1-ubyte.gz",
)
_PACKAGED = "digits"


def data_sets_in(folder: Path) -> tuple[str, ...]:
    """Return the data sets that can be read with this folder: the one in the package, and those with all their files.

    Only names are looked at. A damaged file is found when it is read.
    """
    return tuple(name for name in DATA_SETS if name == _PACKAGED or _is_whole(folder / name))


def _is_whole(folder: Path) -> bool:
    return all((folder / file).is_file() for file in DATA_FILES)
