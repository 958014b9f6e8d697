"""A cell of an experiment: one run, named by a digest of all settings that determine its result.

Experiments share cells: the accuracy curves of Fig. 6 and the datapoints of Fig. 8 come from the same runs.
"""

import hashlib
import json
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from fedl_sim.churn.churn import Churn
from fedl_sim.churn.policies import DEFAULT_POLICY
from fedl_sim.loop.loop import RunSettings
from fedl_sim.loop.records import SchemeRun
from fedl_sim.network.realisation import RealisationSettings
from fedl_sim.simulate.sweep import ExperimentSettings, Job, run_job
from sampler.schemes import find_scheme

__all__ = ["Cell", "run_cell"]

# What a run draws, and how, changed with this number: finished cells of another version are not taken.
VERSION = 2
# Settings that came later, with the value that cells had before. At this value they are no part of a cell's name.
_LATER: tuple[tuple[str, object], ...] = (
    ("run.transfer", "redraw"),
    ("run.training.equal_batches", False),
    ("realisation.label_epsilon", None),
    ("realisation.dirichlet", None),
    ("realisation.derive_similarity", False),
    ("run.send", "any"),
    ("luck", 0),
    ("model", None),
)


@dataclass(frozen=True)
class Cell:
    """One run of one scheme on one realisation.

    Two cells are equal if they are the same run, whatever a table calls it.

    Attributes:
        data_set: see `fedl_sim.data.datasets`.
        scheme: see `sampler.schemes.find_scheme`.
        seed: which realisation.
        draw: which selection, for samplers that draw.
        realisation: how the network is drawn.
        run: how long, how many devices, how they train.
        churn: what goes wrong; None: nothing.
        policy: who trains after a device was lost, see `fedl_sim.churn.policies`.
        luck: which random numbers training draws.
        model: see `fedl_sim.engines.models`; None takes the data set's own.
        arm: what it is called where several are compared, see `fedl_sim.reproduce.compared`; the scheme if empty.
    """

    data_set: str
    scheme: str
    seed: int
    draw: int = 0
    realisation: RealisationSettings = field(default_factory=RealisationSettings)
    # As in the paper: senders redraw.
    run: RunSettings = field(default_factory=partial(RunSettings, transfer="redraw"))
    churn: Churn | None = None
    policy: str = DEFAULT_POLICY
    luck: int = 0
    model: str | None = None
    arm: str = field(default="", compare=False)

    @property
    def name(self) -> str:
        """What it is called where several are compared."""
        return self.arm or self.scheme

    @property
    def settings(self) -> dict[str, Any]:
        """All settings as plain JSON values, with the sampler and offloading that the scheme stands for."""
        lists = asdict(self)
        del lists["run"]["threads"], lists["run"]["measure_always"]  # the curves are the same for any value
        # Nor does a name decide anything. Under churn it never did, so these cells keep what they are called by.
        del lists["arm"]
        if (graph := Path(self.realisation.topology)).is_file():
            # Its content decides, wherever it lies.
            lists["realisation"]["topology"] = hashlib.sha256(graph.read_bytes()).hexdigest()
        for path, before in _LATER:
            _leave_out(lists, path.split("."), before)
        if self.churn is None:
            del lists["churn"], lists["policy"], lists["scheme"]
            lists["version"] = VERSION
        if self.luck:
            lists["luck"] = f"{self.luck} in training"  # before, it also decided who is drawn
        scheme = find_scheme(self.scheme)
        return lists | {"sampler": scheme.sampler, "offloading": scheme.offloading}

    def sized(self, data_set: str, n_devices: int, sample_size: int) -> "Cell":
        """Return the cell with another data set, N and S."""
        return replace(
            self,
            data_set=data_set,
            realisation=replace(self.realisation, n_devices=n_devices),
            run=replace(self.run, sample_size=sample_size),
        )

    @property
    def key(self) -> str:
        """The name of the cell's file."""
        return hashlib.sha256(json.dumps(self.settings, sort_keys=True).encode()).hexdigest()[:24]


def _leave_out(lists: dict[str, Any], path: list[str], value: object) -> None:
    *places, name = path
    for place in places:
        lists = lists[place]
    if lists[name] == value:
        del lists[name]


def run_cell(cell: Cell) -> SchemeRun:
    """Train a cell."""
    settings = ExperimentSettings(
        data_set=cell.data_set,
        realisation=cell.realisation,
        run=cell.run,
        schemes=(cell.scheme,),
        seeds=(cell.seed,),
        churn=cell.churn,
        policy=cell.policy,
        luck=cell.luck,
        model=cell.model,
    )
    return run_job(settings, Job(cell.seed, cell.scheme, cell.draw))
