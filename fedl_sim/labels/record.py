"""A labelled realisation and its file, an .npz of plain arrays without pickle."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from fedl_sim.atomic import atomic_file
from fedl_sim.errors import SimulationError
from fedl_sim.labels.settings import Family, Kind
from solver.network import DEVICE_COLUMNS, LINK_COLUMNS, Devices, Links, Network

__all__ = ["LabelledRealisation", "load_record", "record_path", "save_record"]


@dataclass(frozen=True, eq=False)
class LabelledRealisation:
    """A small network and the values of its B candidate sets; smaller is better, except for accuracy.

    Attributes:
        family, seed: with S, they determine everything here.
        kind: what the seed drew.
        network: the input of samplers, with label counts and all links, even if nothing is offloaded.
        sets: (B, S) every candidate set, lexicographic.
        surrogate: (B,) eq. (26) after optimised offloading, mean over the horizon.
        sampled_data: (B, S) D_i(T) as planned.
        fedl_loss, fedl_accuracy: (B,) on the test split after the last aggregation; None if not trained.
    """

    family: Family
    seed: int
    kind: Kind
    network: Network
    sets: NDArray[np.int64]
    surrogate: NDArray[np.float64]
    sampled_data: NDArray[np.float64]
    fedl_loss: NDArray[np.float64] | None = None
    fedl_accuracy: NDArray[np.float64] | None = None

    @property
    def sample_size(self) -> int:
        """S."""
        return int(self.sets.shape[1])

    def values(self, label: str) -> NDArray[np.float64]:
        """Return the values of the sets by this label, `surrogate` or `fedl`; smaller is better.

        Raises:
            ValueError: the label is unknown, or FedL was not trained here.
        """
        if label == "surrogate":
            return self.surrogate
        if label != "fedl":
            raise ValueError(f"label must be fedl or surrogate, is {label!r}")
        if self.fedl_loss is None:
            raise ValueError(f"FedL was not trained on realisation {self.seed}")
        return self.fedl_loss

    def percentile(self, sampled: NDArray[np.int64], label: str) -> float:
        """Rank of a set among all candidates: 0 is the best, 1 the worst, ½ the mean over all sets.

        Equal values share the middle of their ranks.

        Raises:
            ValueError: it is not a candidate set.
        """
        match = np.flatnonzero(np.all(self.sets == np.sort(sampled), axis=1))
        if len(match) == 0:
            raise ValueError("the devices are no candidate set of this realisation")
        values = self.values(label)
        own = values[match[0]]
        if len(values) == 1:
            return 0.0
        better = float((values < own).sum() + 0.5 * ((values == own).sum() - 1))
        return better / (len(values) - 1)


def record_path(folder: Path, sample_size: int, seed: int) -> Path:
    """Return the path of the record of a seed and a sample size."""
    return folder / f"S{sample_size}" / f"{seed:08d}.npz"


def save_record(record: LabelledRealisation, folder: Path) -> Path:
    """Write a record to its path, atomically."""
    path = record_path(folder, record.sample_size, record.seed)
    arrays: dict[str, Any] = {name: getattr(record.network.devices, name) for name in DEVICE_COLUMNS}
    arrays |= {name: getattr(record.network.links, name) for name in LINK_COLUMNS}
    arrays |= {"sets": record.sets.astype(np.int16), "surrogate": record.surrogate, "sampled_data": record.sampled_data}
    for name in ("fedl_loss", "fedl_accuracy"):
        if getattr(record, name) is not None:
            arrays[name] = getattr(record, name)
    if record.network.devices.label_counts is not None:
        arrays["label_counts"] = record.network.devices.label_counts
    about = {"format": 1, "seed": record.seed, "kind": asdict(record.kind), "family": record.family.to_lists()}
    with atomic_file(path) as file:
        np.savez(file, allow_pickle=False, about=np.array(json.dumps(about)), **arrays)
    return path


def load_record(path: Path) -> LabelledRealisation:
    """Read what `save_record` wrote.

    Raises:
        SimulationError: the file is not a record.
    """
    try:
        # Opened here: numpy would leave a file that is no archive open.
        with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        about = json.loads(str(arrays["about"]))
        devices = Devices(**{name: arrays[name] for name in DEVICE_COLUMNS}, label_counts=arrays.get("label_counts"))
        return LabelledRealisation(
            family=Family.from_lists(about["family"]),
            seed=int(about["seed"]),
            kind=Kind(**about["kind"]),
            network=Network(devices, Links(**{name: arrays[name] for name in LINK_COLUMNS})),
            sets=arrays["sets"].astype(np.int64),
            surrogate=arrays["surrogate"],
            sampled_data=arrays["sampled_data"],
            fedl_loss=arrays.get("fedl_loss"),
            fedl_accuracy=arrays.get("fedl_accuracy"),
        )
    except (BadZipFile, ValueError, EOFError, KeyError, TypeError) as error:
        raise SimulationError(f"{path} is no labelled realisation: {error}") from error
