"""From a recipe to weight files: label, train, evaluate, write. Each stage uses what an earlier run finished."""

import importlib
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

from fedl_sim.atomic import write_atomically
from fedl_sim.labels.evaluation import by_network, judge, percentiles
from fedl_sim.labels.folder import LabelFolder
from fedl_sim.labels.record import LabelledRealisation
from fedl_sim.train.examples import gcn_examples, gcn_features, rank_states
from fedl_sim.train.recipe import Recipe
from sampler.base import Sampler
from sampler.branch.random_scores import sample_by_random_branch
from sampler.errors import WeightsError
from sampler.gcn.examples import Trained, TrainingOptions
from sampler.gcn.rank import GcnRank
from sampler.gcn.rank_features import RANK_FEATURES
from sampler.gcn.sampler import GcnBranch
from sampler.gcn.weights import GENERAL, Weights, read_weights
from solver.errors import MissingExtraError

__all__ = ["DRAWS", "Reporter", "label_realisations", "require_training", "train_models"]

# A random sampler's percentile on a realisation is the mean over this many selections.
DRAWS = 20

# Called with the name of a stage, the number of finished pieces, and the number of all pieces.
Reporter = Callable[[str, int, int], None]


def label_realisations(
    recipe: Recipe, folder: Path, report: Reporter, *, processes: int = 1, dask: str | None = None
) -> None:
    """Label the missing realisations of the recipe; on held-out ones FedL is always trained."""
    labels = LabelFolder(folder, recipe.family)
    sizes = sorted({size for sizes in recipe.models.values() for size in sizes})
    stages = (("labelling held-out", recipe.held_out_seeds, "fedl"), ("labelling", recipe.seeds, recipe.label))
    for stage, seeds, kind in stages:
        jobs = labels.jobs(sizes, seeds)
        count = _Counter(report, stage, len(jobs) - len(labels.missing(jobs, kind)), len(jobs))
        labels.generate(jobs, kind, processes=processes, dask=dask, on_record=count)


def require_training(model: str) -> None:
    """Tell what training needs before hours of labelling.

    Raises:
        MissingExtraError: it is not installed.
    """
    needed = ("torch",) if model == "rank" else ("torch", "torch_geometric")
    missing = [name for name in needed if find_spec(name) is None]
    if missing:
        raise MissingExtraError(f"training needs {' and '.join(missing)}: install fedsift[train]")


def train_models(recipe: Recipe, folder: Path, output: Path, report: Reporter) -> dict[str, Weights]:
    """Train every missing model of the recipe, evaluate it, and write it.

    Raises:
        MissingExtraError: torch is not installed.
    """
    trained = {}
    for name, sizes in recipe.models.items():
        path = output / f"{recipe.prefix}-{name}.json"
        weights = _found(path, recipe)
        if weights is None:
            weights = _train(recipe, name, sizes, folder, report)
            write_atomically(path, weights.to_json().encode())
        trained[name] = weights
    return trained


class _Counter:
    """Reports each finished piece."""

    def __init__(self, report: Reporter, stage: str, done: int, total: int) -> None:
        self._report, self._stage, self._done, self._total = report, stage, done, total
        report(stage, done, total)

    def __call__(self) -> None:
        self._done += 1
        self._report(self._stage, self._done, self._total)


def _found(path: Path, recipe: Recipe) -> Weights | None:
    """Return the weights that an earlier run of the same recipe wrote."""
    try:
        weights = read_weights(path)
    except WeightsError:
        return None
    return weights if weights.provenance.get("recipe") == recipe.digest else None


def _train(recipe: Recipe, name: str, sizes: Sequence[int], folder: Path, report: Reporter) -> Weights:
    labels = LabelFolder(folder, recipe.family)
    records = labels.load(labels.jobs(sizes, recipe.seeds), recipe.label)
    stage = f"training {recipe.prefix}-{name}"
    trained, features = _fitted(recipe, records, _Counter(report, stage, 0, recipe.epochs), general=name == GENERAL)
    weights = Weights(recipe.model, features, trained.layers, {})
    about: dict[str, str | float] = {
        "recipe": recipe.digest,
        "command": recipe.command(),
        "label": recipe.label,
        "sample_sizes": ",".join(map(str, sizes)),
        "realisations": len(records),
        "first_seed": recipe.seed,
        "epoch": trained.epoch,
        "loss_before": round(trained.first_loss, 5),
        "loss": round(trained.validation_loss, 5),
        "trained_on": datetime.now(UTC).date().isoformat(),
        "fedsift": version("fedsift"),
    }
    judged = labels.load(labels.jobs(sizes, recipe.held_out_seeds), "fedl")
    return Weights(recipe.model, features, trained.layers, about | _held_out(weights, name, judged))


def _fitted(
    recipe: Recipe, records: Sequence[LabelledRealisation], advance: Callable[[], None], *, general: bool
) -> tuple[Trained, tuple[str, ...]]:
    if recipe.model == "rank":
        options = TrainingOptions(
            recipe.hidden, recipe.epochs, learning_rate=3e-3, weight_decay=1e-4, batch_size=256, seed=recipe.seed
        )
        share = 1.0 if recipe.label == "surrogate" else recipe.surrogate_share
        train = _torch_module("sampler.gcn.rank_training").train_rank
        trained: Trained = train(rank_states(records, share), options, advance)
        return trained, RANK_FEATURES
    options = TrainingOptions(recipe.hidden, recipe.epochs, seed=recipe.seed)
    train = _torch_module("sampler.gcn.score_training").train_scorer
    trained = train(gcn_examples(records, recipe.label, general=general), options, advance)
    return trained, gcn_features(general=general)


def _torch_module(name: str) -> ModuleType:
    """Import a module that needs torch."""
    try:
        module = importlib.import_module(name)
        importlib.import_module("torch").set_num_threads(1)
    except ImportError as error:
        raise MissingExtraError(
            f"training needs torch and torch-geometric ({error}): install fedsift[train]"
        ) from error
    return module


def _held_out(weights: Weights, name: str, records: Sequence[LabelledRealisation]) -> dict[str, str | float]:
    """Evaluate a model on held-out realisations, and the branch search with random scores beside it."""
    sampler: Sampler = GcnRank(weights) if weights.model == "rank" else GcnBranch(weights={name: weights})
    table: dict[str, str | float] = {"held_out": len(records)}
    for label in ("fedl", "surrogate"):
        own = by_network(percentiles(sampler, records, label, draws=DRAWS if weights.model == "gcn" else 1), records)
        rival = by_network(percentiles(sample_by_random_branch, records, label, draws=DRAWS), records)
        beaten = judge(own - rival)
        table[f"{label}_percentile"] = round(judge(own).mean, 4)
        table[f"{label}_percentile_random_branch"] = round(judge(rival).mean, 4)
        table[f"{label}_difference_error"] = round(beaten.error, 4)
    return table
