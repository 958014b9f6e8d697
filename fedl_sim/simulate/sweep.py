"""A comparison of schemes over seeds and draws; the result does not depend on the number of processes."""

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from typing import Any

import joblib

from fedl_sim.cache import cached_data_set, cached_engine, cached_realisation
from fedl_sim.churn.churn import Churn
from fedl_sim.churn.churned_loop import run_churned
from fedl_sim.churn.policies import DEFAULT_POLICY, policy_for
from fedl_sim.engines.factory import default_model
from fedl_sim.errors import InvalidSettingError
from fedl_sim.loop.loop import RunSettings, run_scheme
from fedl_sim.loop.records import AggregationRecord, SchemeRun
from fedl_sim.network.realisation import RealisationSettings
from fedl_sim.randomness import key_of
from fedl_sim.simulate.summary import SchemeSummary, summarise
from sampler.schemes import find_scheme, scheme_names

__all__ = [
    "Experiment",
    "ExperimentSettings",
    "Job",
    "Progress",
    "experiment_document",
    "jobs_of",
    "run_job",
    "simulate",
]


@dataclass(frozen=True)
class ExperimentSettings:
    """All settings that determine an experiment's result.

    Attributes:
        data_set: see `fedl_sim.data.datasets`.
        model: cnn, mlp or softmax; None takes softmax for digits and cnn for the others.
        engine: compiled or torch.
        realisation: how networks are drawn.
        run: how many devices train, how, and for how long.
        schemes: names, see `sampler.schemes.find_scheme`.
        seeds: one realisation each.
        churn: what goes wrong; None is the paper's setting, in which nothing does.
        policy: who trains after a device was lost, see `fedl_sim.churn.policies`.
        luck: which random numbers training draws, on the same networks; runs that differ in it alone show chance.
        target: accuracy; summaries say what it takes to reach it.
    """

    data_set: str = "digits"
    model: str | None = None
    engine: str = "compiled"
    realisation: RealisationSettings = field(default_factory=RealisationSettings)
    run: RunSettings = field(default_factory=RunSettings)
    schemes: tuple[str, ...] = field(default_factory=scheme_names)
    seeds: tuple[int, ...] = (0,)
    churn: Churn | None = None
    policy: str = DEFAULT_POLICY
    luck: int = 0
    target: float = 0.85

    def __post_init__(self) -> None:
        if not self.schemes or not self.seeds:
            raise InvalidSettingError("an experiment needs at least one scheme and one seed")
        if len(set(self.schemes)) != len(self.schemes) or len(set(self.seeds)) != len(self.seeds):
            raise InvalidSettingError("a scheme or a seed is named twice")
        for name in self.schemes:
            sampler = find_scheme(name).sampler
            if self.churn is not None:
                policy_for(self.policy, sampler)
        if self.churn is not None and (self.run.training.equal_batches or self.run.send != "any"):
            raise InvalidSettingError("under churn a step is an epoch and any data is sent: leave fair and lacking out")

    @property
    def model_name(self) -> str:
        """The model in use."""
        return self.model or default_model(self.data_set)


@dataclass(frozen=True)
class Job:
    """One run of one scheme."""

    seed: int
    scheme: str
    draw: int


@dataclass(frozen=True)
class Experiment:
    """The runs of an experiment and their summaries."""

    settings: ExperimentSettings
    runs: tuple[SchemeRun, ...]
    summaries: tuple[SchemeSummary, ...]


Progress = Callable[[Job, int], None]


def jobs_of(settings: ExperimentSettings) -> tuple[Job, ...]:
    """List the runs, seed by seed."""
    return tuple(
        Job(seed, name, draw)
        for seed in settings.seeds
        for name in settings.schemes
        for draw in range(find_scheme(name).draws)
    )


def simulate(settings: ExperimentSettings, *, processes: int = 1, progress: Progress | None = None) -> Experiment:
    """Run an experiment.

    Args:
        settings: what to run.
        processes: number of runs at the same time; the result does not depend on it.
        progress: called with a job and the number of aggregations finished since the last call.
    """
    jobs = jobs_of(settings)
    runs: list[SchemeRun | None] = [None] * len(jobs)
    for index, run in _run_all(settings, jobs, processes, progress):
        runs[index] = run
    done = tuple(run for run in runs if run is not None)
    return Experiment(settings, done, summarise(done, settings.target))


def experiment_document(experiment: Experiment) -> dict[str, Any]:
    """Return the experiment as plain JSON values."""
    # The number of threads does not change the result.
    settings = dataclasses.asdict(experiment.settings)
    del settings["run"]["threads"]
    return {
        "fedsift": version("fedsift"),
        "settings": settings | {"model": experiment.settings.model_name},
        "summaries": [dataclasses.asdict(summary) for summary in experiment.summaries],
        "runs": [dataclasses.asdict(run) for run in experiment.runs],
    }


def _run_all(
    settings: ExperimentSettings, jobs: tuple[Job, ...], processes: int, progress: Progress | None
) -> Iterator[tuple[int, SchemeRun]]:
    if processes <= 1:
        for index, job in enumerate(jobs):
            yield index, run_job(settings, job, progress)
        return
    parallel = joblib.Parallel(n_jobs=processes, return_as="generator_unordered")
    for index, run in parallel(joblib.delayed(_run_indexed)(settings, i, job) for i, job in enumerate(jobs)):
        if progress is not None:
            progress(jobs[index], settings.run.aggregations)
        yield index, run


def _run_indexed(settings: ExperimentSettings, index: int, job: Job) -> tuple[int, SchemeRun]:
    return index, run_job(settings, job)


def run_job(settings: ExperimentSettings, job: Job, progress: Progress | None = None) -> SchemeRun:
    """Run one scheme on one realisation; the data set, the realisation and the engine stay in the cache."""
    data = cached_data_set(settings.data_set)
    realisation = cached_realisation(settings.realisation, data, job.seed)

    def tell(record: AggregationRecord) -> None:
        if progress is not None and record.aggregation > 0:
            progress(job, 1)

    engine = cached_engine(settings.engine, settings.model_name, data)
    run = (find_scheme(job.scheme), realisation, data, engine, settings.run)
    seed = job.seed if settings.luck == 0 else key_of(job.seed, "luck", settings.luck)
    if settings.churn is None:
        # With any luck the same devices are drawn, and lost: it decides how training goes.
        done = run_scheme(*run, seed=seed, draw=job.draw, network_seed=job.seed, on_aggregation=tell)
    else:
        done = run_churned(
            *run, churn=settings.churn, policy=settings.policy, seed=seed, draw=job.draw, network_seed=job.seed,
            on_aggregation=tell,
        )  # fmt: skip
    return replace(done, seed=job.seed)
