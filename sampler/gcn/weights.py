"""Trained weights and their provenance: JSON files in the package, no pickle."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sampler.errors import WeightsError

__all__ = ["GENERAL", "MODELS", "PAPER_SIZES", "Weights", "load_weights", "read_weights", "weights_name"]

# The paper trains one model for each of these S.
PAPER_SIZES = (3, 4, 5, 6)
GENERAL = "general"
# The paper's network, and our variant.
MODELS = ("gcn", "rank")
_FORMAT = "fedsift-gcn-1"


@dataclass(frozen=True, eq=False)
class Weights:
    """A trained network.

    Attributes:
        model: `gcn` (Sec. IV-B) or `rank` (`sampler.gcn.rank`, whose layers also have a row for each feature of the
            device itself and one for a constant).
        features: names of the input columns, see `sampler.gcn.features`.
        layers: Q(1), Q(2), …
        provenance: realisations, seed, label, command, held-out scores, date.
    """

    model: str
    features: tuple[str, ...]
    layers: tuple[NDArray[np.float64], ...]
    provenance: Mapping[str, str | float]

    def __post_init__(self) -> None:
        if self.model not in MODELS:
            raise WeightsError(f"model must be one of {', '.join(MODELS)}, is {self.model!r}")
        width = len(self.features)
        for number, layer in enumerate(self.layers, start=1):
            rows = width if self.model == "gcn" else 2 * width + 1
            if layer.ndim != 2 or layer.shape[0] != rows or not np.all(np.isfinite(layer)):
                raise WeightsError(f"layer {number} must be a finite matrix with {rows} rows")
            width = layer.shape[1]
        if not self.layers or width != 1:
            raise WeightsError("the last layer must have one column, the score")

    def to_json(self) -> str:
        """Return the text of a weights file."""
        document = {
            "format": _FORMAT,
            "model": self.model,
            "features": list(self.features),
            "layers": [layer.tolist() for layer in self.layers],
            "provenance": dict(self.provenance),
        }
        return json.dumps(document, indent=1, ensure_ascii=False) + "\n"

    @classmethod
    def from_json(cls, text: str, name: str = "the file") -> "Weights":
        """Return the weights that `to_json` wrote.

        Raises:
            WeightsError: the text holds no weights.
        """
        try:
            document: Any = json.loads(text)
            if document["format"] != _FORMAT:
                raise WeightsError(f"{name} is not in the format {_FORMAT}")
            layers = tuple(np.array(layer, np.float64) for layer in document["layers"])
            return cls(document["model"], tuple(document["features"]), layers, dict(document["provenance"]))
        except (ValueError, TypeError, KeyError) as error:
            raise WeightsError(f"{name} holds no GCN weights: {error!r}") from error


def weights_name(sample_size: int) -> str:
    """Return the name of the model for this sample size: its own for the paper's sizes, else the general one."""
    return f"s{sample_size}" if sample_size in PAPER_SIZES else GENERAL


def read_weights(path: Traversable) -> Weights:
    """Read a weights file.

    Raises:
        WeightsError: the file is missing or holds no weights.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise WeightsError(f"there are no weights {path.name}: {error}") from error
    return Weights.from_json(text, path.name)


@lru_cache(maxsize=32)
def load_weights(model: str, name: str) -> Weights:
    """Load packaged weights: model `gcn-fedl`, `gcn-surrogate` or `rank`, name `s3` … `s6` or `general`.

    Raises:
        WeightsError: the package holds none of that name.
    """
    return read_weights(files("sampler") / "weights" / f"{model}-{name}.json")
