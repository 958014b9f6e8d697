"""Experiments by name."""

from collections.abc import Callable, Mapping

from fedl_sim.errors import InvalidSettingError
from fedl_sim.loop.loop import RunSettings
from fedl_sim.network.realisation import RealisationSettings
from fedl_sim.reproduce.cell import Cell
from fedl_sim.reproduce.studies.accuracy import accuracy_study
from fedl_sim.reproduce.studies.beyond import beyond_study
from fedl_sim.reproduce.studies.convergence import convergence_study
from fedl_sim.reproduce.studies.healing import churn_study
from fedl_sim.reproduce.studies.label_knowledge import ours_study
from fedl_sim.reproduce.studies.label_offloading import labels_study
from fedl_sim.reproduce.studies.offloading import solver_study
from fedl_sim.reproduce.studies.resources import resources_study
from fedl_sim.reproduce.studies.sampling import sampling_study
from fedl_sim.reproduce.studies.tuning import tuning_study
from fedl_sim.reproduce.study import Scope, Study

__all__ = ["STUDIES", "study_named"]

# K of each experiment if none is named: the paper's table counts up to 17.
_AGGREGATIONS: Mapping[str, int] = {"churn": 20, "convergence": 20, "tune": 5}

STUDIES: Mapping[str, Callable[[Cell, Scope], Study]] = {
    "accuracy": accuracy_study,
    "beyond": beyond_study,
    "churn": churn_study,
    "convergence": convergence_study,
    "labels": labels_study,
    "ours": ours_study,
    "resources": resources_study,
    "sampling": sampling_study,
    "solver": solver_study,
    "tune": tuning_study,
}


def study_named(name: str, scope: Scope, *, budget: str = "loose", aggregations: int | None = None) -> Study:
    """Return the experiment of that name, with senders that redraw as in the paper.

    Raises:
        InvalidSettingError: there is none.
    """
    if name not in STUDIES:
        raise InvalidSettingError(f"unknown experiment {name!r}; known: {', '.join(STUDIES)}")
    template = Cell(
        data_set="digits",
        scheme="random",
        seed=0,
        realisation=RealisationSettings(budget=budget),
        run=RunSettings(
            aggregations=aggregations or _AGGREGATIONS.get(name, 10), transfer="redraw", measure_always=False
        ),
    )
    return STUDIES[name](template, scope)
