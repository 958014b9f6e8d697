"""A cell of an experiment: one run, named by a digest of all settings that determine its result.

Experiments share cells: the accuracy curves of Fig. 6 and the datapoints of Fig. 8 come from the same runs.
"""

import hashlib
import json
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any

from fedl_sim.churn.churn import Churn
from fedl_sim.churn.policies import DEFAULT_POLICY
from fedl_sim.loop.loop import RunSettings
from fedl_sim.loop.records import SchemeRun
from fedl_sim.network.realisation import RealisationSettings
from fedl_sim.simulate.sweep import ExperimentSettings, Job, run_job
from sampler.schemes import find_scheme

__all__ = ["Cell", "cells_of", "run_cell"]


@dataclass(frozen=True)
class Cell:
    """One run of one scheme on one realisation.

    Attributes:
        data_set: see `fedl_sim.data.datasets`.
        scheme: see `sampler.schemes.find_scheme`.
        seed: which realisation.
        draw: which selection, for samplers that draw.
        realisation: how the network is drawn.
        run: how long, how many devices, how they train.
        churn: what goes wrong; None: nothing.
        policy: who trains after a device was lost, see `fedl_sim.churn.policies`.
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

    @property
    def settings(self) -> dict[str, Any]:
        """All settings as plain JSON values, with the sampler and offloading that the scheme stands for."""
        lists = asdict(self)
        del lists["run"]["threads"]  # the result is the same for any number
        if self.run.transfer == "redraw":
            del lists["run"]["transfer"]  # cells had no other kind at first, and keep their names
        if self.realisation.label_epsilon is None:
            del lists["realisation"]["label_epsilon"]  # so that finished cells keep their names
        if self.churn is None:
            del lists["churn"], lists["policy"]
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


def cells_of(
    template: Cell, *, schemes: tuple[str, ...], seeds: tuple[int, ...], draws: int | None = None
) -> tuple[Cell, ...]:
    """Return all runs of these schemes on these seeds with the template's settings; at most `draws` of each network."""
    return tuple(
        replace(template, scheme=scheme, seed=seed, draw=draw)
        for seed in seeds
        for scheme in schemes
        for draw in range(find_scheme(scheme).draws)[:draws]
    )


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
    )
    return run_job(settings, Job(cell.seed, cell.scheme, cell.draw))
