"""Experiments by name."""

from collections.abc import Callable, Mapping

from fedl_sim.experiments.accuracy import accuracy_study
from fedl_sim.experiments.cell import Cell
from fedl_sim.experiments.convergence import convergence_study
from fedl_sim.experiments.resources import resources_study
from fedl_sim.experiments.sampling import sampling_study
from fedl_sim.experiments.solver import solver_study
from fedl_sim.experiments.study import Scope, Study

__all__ = ["STUDIES"]

STUDIES: Mapping[str, Callable[[Cell, Scope], Study]] = {
    "accuracy": accuracy_study,
    "convergence": convergence_study,
    "resources": resources_study,
    "sampling": sampling_study,
    "solver": solver_study,
}
