"""The settings of a trained model; they are in its provenance, and a resumed run compares them."""

import json
import shlex
from dataclasses import asdict, dataclass, field
from hashlib import sha256

from fedl_sim.errors import InvalidSettingError
from fedl_sim.labels.evaluation import HELD_OUT_SEED, TUNING_SEED
from fedl_sim.labels.folder import LABELS
from fedl_sim.labels.settings import Family
from sampler.gcn.weights import GENERAL, MODELS, PAPER_SIZES, weights_name

__all__ = ["Recipe"]


@dataclass(frozen=True)
class Recipe:
    """How to train one family of models.

    Attributes:
        model: `gcn` (Sec. IV-B, one for each S and a general one) or `rank` (see `sampler.gcn.rank`).
        label: the value that the best set minimises: `fedl` or `surrogate`.
        sample_sizes: S with a model of their own; `rank` has none.
        general_sizes: S that the general model learns from.
        realisations: how many networks, with the seeds `seed`, `seed + 1`, …
        seed: seed of the first realisation and of the initial weights.
        held_out: number of realisations for the evaluation, from `HELD_OUT_SEED` on.
        hidden: widths of the hidden layers.
        epochs: training epochs.
        surrogate_share: weight of a set's rank by the surrogate beside its rank by FedL loss, in `rank`.
        family: the networks, and FedL on them.
    """

    model: str = "gcn"
    label: str = "fedl"
    sample_sizes: tuple[int, ...] = PAPER_SIZES
    general_sizes: tuple[int, ...] = tuple(range(1, 10))
    realisations: int = 1000
    seed: int = 0
    held_out: int = 100
    hidden: tuple[int, ...] = (16,)
    epochs: int = 400
    surrogate_share: float = 0.15
    family: Family = field(default_factory=Family)

    def __post_init__(self) -> None:
        if self.model not in MODELS:
            raise InvalidSettingError(f"model must be one of {', '.join(MODELS)}, is {self.model!r}")
        if self.label not in LABELS:
            raise InvalidSettingError(f"label must be one of {', '.join(LABELS)}, is {self.label!r}")
        if self.realisations < 2 or self.held_out < 2:
            raise InvalidSettingError("realisations and held_out must be at least 2")
        if self.seed < 0 or self.seed + self.realisations > TUNING_SEED:
            raise InvalidSettingError(f"seeds must lie in 0..{TUNING_SEED - 1}: those beyond are not for training")
        if not 0 <= self.surrogate_share <= 1:
            raise InvalidSettingError(f"surrogate_share must lie in [0, 1], is {self.surrogate_share}")
        sizes = (*self.sample_sizes, *self.general_sizes)
        if not sizes or not all(1 <= size < self.family.n_devices for size in sizes):
            raise InvalidSettingError(f"sample sizes must lie in 1..{self.family.n_devices - 1}")
        for size in self.sample_sizes:
            if size not in PAPER_SIZES:
                raise InvalidSettingError(f"sampled sizes with a model of their own are {PAPER_SIZES}; {size} is not")

    @property
    def models(self) -> dict[str, tuple[int, ...]]:
        """Names of the models to train, and the sample sizes that each learns from."""
        if self.model == "rank":
            return {GENERAL: self.general_sizes}
        named = {weights_name(size): (size,) for size in self.sample_sizes}
        return named | ({GENERAL: self.general_sizes} if self.general_sizes else {})

    @property
    def prefix(self) -> str:
        """The beginning of the names of its weight files."""
        return "rank" if self.model == "rank" else f"gcn-{self.label}"

    @property
    def seeds(self) -> range:
        """Seeds of the realisations to train on."""
        return range(self.seed, self.seed + self.realisations)

    @property
    def held_out_seeds(self) -> range:
        """Seeds of the held-out realisations."""
        return range(HELD_OUT_SEED, HELD_OUT_SEED + self.held_out)

    @property
    def digest(self) -> str:
        """A digest of all settings."""
        values = asdict(self) | {"family": self.family.to_lists()}
        return sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:16]

    def command(self) -> str:
        """The command that trains this again."""
        words = ["fedsift", "train", "--model", self.model, "--label", self.label]
        words += ["--sizes", _listed(self.sample_sizes), "--general-sizes", _listed(self.general_sizes)]
        words += ["--realisations", str(self.realisations), "--seed", str(self.seed)]
        words += ["--held-out", str(self.held_out), "--hidden", _listed(self.hidden), "--epochs", str(self.epochs)]
        if self.model == "rank":
            words += ["--surrogate-share", f"{self.surrogate_share:g}"]
        default = Family().to_lists()
        changed = {name: value for name, value in self.family.to_lists().items() if value != default[name]}
        if changed:
            words += ["--family", json.dumps(changed)]
        return shlex.join(words)


def _listed(values: tuple[int, ...]) -> str:
    return ",".join(map(str, values)) or "none"
