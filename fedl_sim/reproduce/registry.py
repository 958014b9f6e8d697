"""Experiments by name."""

from collections.abc import Callable, Mapping

from fedl_sim.reproduce.cell import Cell
from fedl_sim.reproduce.studies.accuracy import accuracy_study
from fedl_sim.reproduce.studies.convergence import convergence_study
from fedl_sim.reproduce.studies.healing import churn_study
from fedl_sim.reproduce.studies.offloading import solver_study
from fedl_sim.reproduce.studies.resources import resources_study
from fedl_sim.reproduce.studies.sampling import sampling_study
from fedl_sim.reproduce.study import Scope, Study

__all__ = ["STUDIES"]

STUDIES: Mapping[str, Callable[[Cell, Scope], Study]] = {
    "accuracy": accuracy_study,
    "churn": churn_study,
    "convergence": convergence_study,
    "resources": resources_study,
    "sampling": sampling_study,
    "solver": solver_study,
}
