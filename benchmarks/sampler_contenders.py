"""The samplers that `make bench-sampler` compares, and what each aims at."""

from dataclasses import dataclass

from benchmarks.labelled_sets import without_labels
from fedl_sim.engines.base import Engine
from fedl_sim.labels.settings import Family
from fedl_sim.loop.devices import TrainingSettings
from fedl_sim.loop.first_round import sample_by_rival
from fedl_sim.network.realisation import Realisation
from fedl_sim.randomness import stream
from sampler import find_sampler
from sampler.base import SamplingProblem, Selection
from sampler.rivals.model_based import RIVALS
from sampler.searches.base import ObjectiveSampler

__all__ = ["LARGE", "TEN_DEVICES", "Contender"]


@dataclass(frozen=True)
class Contender:
    """A sampler by name, whether it is told label counts, and how many draws its figures are means of."""

    sampler: str
    labels: bool = True
    draws: int = 1

    @property
    def name(self) -> str:
        """What the tables call it."""
        return self.sampler if self.labels else f"{self.sampler}, no label counts"

    @property
    def objective(self) -> str:
        """What it aims at: its own objective, or the paper's if it states none."""
        if self.sampler in RIVALS:
            return "surrogate"
        sampler = find_sampler(self.sampler)
        return sampler.objective if isinstance(sampler, ObjectiveSampler) else "surrogate"

    def seen(self, problem: SamplingProblem) -> SamplingProblem:
        """The problem as it is told."""
        return problem if self.labels else without_labels(problem)

    def sample(self, problem: SamplingProblem, seed: int, draw: int = 0) -> Selection:
        """Choose devices."""
        return find_sampler(self.sampler)(self.seen(problem), stream(seed, "bench", self.sampler, draw))

    def sample_by_rival(
        self,
        problem: SamplingProblem,
        realisation: Realisation,
        engine: Engine,
        family: Family,
        *,
        seed: int,
        draw: int,
    ) -> Selection:
        """Choose devices by what they report of a first model."""
        training = TrainingSettings(family.learning_rate, family.batch_size, family.aggregation_period)
        generator = stream(seed, "bench", self.sampler, draw)
        return sample_by_rival(self.sampler, problem, realisation, engine, training, seed=seed, generator=generator)


# The branch on random scores stands beside gcn_branch in every table.
TEN_DEVICES = (
    Contender("random", draws=20),
    Contender("heuristic"),
    Contender("random_branch", draws=20),
    Contender("gcn_branch", draws=5),
    Contender("gcn_branch_fedl", draws=5),
    Contender("gcn_rank"),
    Contender("gcn_rank", labels=False),
    Contender("greedy"),
    Contender("greedy", labels=False),
    Contender("greedy:surrogate"),
    Contender("greedy:coverage"),
    Contender("local_search"),
    Contender("local_search", labels=False),
    Contender("local_search:surrogate"),
    Contender("local_search:coverage"),
    Contender("exhaustive"),
    Contender("exhaustive:surrogate"),
    Contender("power_of_choice", draws=5),
    Contender("oort"),
    Contender("divfl"),
)

LARGE = (
    Contender("random", draws=5),
    Contender("heuristic"),
    Contender("random_branch", draws=5),
    Contender("gcn_branch"),
    Contender("gcn_branch_fedl"),
    Contender("gcn_rank"),
    Contender("greedy"),
    Contender("greedy", labels=False),
    Contender("greedy:surrogate"),
    Contender("greedy:coverage"),
    Contender("local_search"),
    Contender("local_search", labels=False),
)
