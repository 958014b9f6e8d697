"""`fedsift train`."""

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import Progress, TaskID
from rich.table import Table

from fedl_sim.errors import InvalidSettingError
from fedl_sim.labels.folder import LABELS
from fedl_sim.labels.settings import Family
from fedl_sim.terminal import FanOut, grouped, parse_numbers, progress_bar
from fedl_sim.train.pipeline import Reporter, label_realisations, require_training, train_models
from fedl_sim.train.recipe import Recipe
from sampler.gcn.weights import MODELS, Weights

__all__ = ["train"]


@grouped
def train(
    *,
    model: Annotated[
        str, typer.Option(help=f"One of {', '.join(MODELS)}: the paper's, or the ranking variant.")
    ] = "gcn",
    label: Annotated[str, typer.Option(help=f"What the best set is best by: {' or '.join(LABELS)}.")] = "fedl",
    sizes: Annotated[str, typer.Option(help="S with a model of their own, like 3,4,5,6; none for none.")] = "3,4,5,6",
    general_sizes: Annotated[
        str, typer.Option(help="S that the general model learns from; none trains no general model.")
    ] = "1,2,3,4,5,6,7,8,9",
    realisations: Annotated[int, typer.Option(help="Networks to label and train on.", min=2)] = 1000,
    seed: Annotated[int, typer.Option(help="Of the first realisation, and of the first weights.", min=0)] = 0,
    held_out: Annotated[int, typer.Option(help="Networks to judge on, never trained on.", min=2)] = 100,
    hidden: Annotated[str | None, typer.Option(help="Hidden widths [default: 16, for rank 16,16].")] = None,
    epochs: Annotated[int | None, typer.Option(help="Of training [default: 400, for rank 40].", min=1)] = None,
    surrogate_share: Annotated[float, typer.Option(help="Weight of the surrogate's rank in rank.")] = 0.15,
    family: Annotated[str, typer.Option(help="JSON that changes the family of networks, see the model card.")] = "{}",
    folder: Annotated[Path, typer.Option(help="Where labels are kept and taken up again.")] = Path("build/labels"),
    output: Annotated[Path, typer.Option("--output", "-o", help="Where weights are written.")] = Path("build/weights"),
    fan_out: FanOut,
    labels_only: Annotated[bool, typer.Option("--labels-only", help="Stop when everything is labelled.")] = False,
) -> None:
    """Label small networks, train a sampler's network on them, and judge it on others.

    Stopped at any point, the same command goes on where it was.
    """
    console = Console()
    recipe = Recipe(
        model=model,
        label=label,
        sample_sizes=() if model == "rank" else parse_numbers(sizes, "--sizes"),
        general_sizes=parse_numbers(general_sizes, "--general-sizes"),
        realisations=realisations,
        seed=seed,
        held_out=held_out,
        hidden=parse_numbers(hidden or ("16,16" if model == "rank" else "16"), "--hidden"),
        epochs=epochs or (40 if model == "rank" else 400),
        surrogate_share=surrogate_share,
        family=_family(family),
    )
    if not labels_only:
        require_training(model)
    with progress_bar(console, transient=False) as bar:
        report = _reporter(bar)
        label_realisations(recipe, folder, report, processes=fan_out.processes, dask=fan_out.dask)
        weights = {} if labels_only else train_models(recipe, folder, output, report)
    if weights:
        _show(recipe, weights, console)
        console.print(f"wrote {len(weights)} file(s) to {output}")


def _family(text: str) -> Family:
    try:
        changes = json.loads(text)
    except ValueError as error:
        raise InvalidSettingError(f"--family must be a JSON object: {error}") from error
    if not isinstance(changes, dict):
        raise InvalidSettingError("--family must be a JSON object")
    return Family.from_lists(Family().to_lists() | changes)


def _reporter(bar: Progress) -> Reporter:
    tasks: dict[str, TaskID] = {}

    def report(stage: str, done: int, total: int) -> None:
        if stage not in tasks:
            tasks[stage] = bar.add_task(stage, total=total, completed=done)
        bar.update(tasks[stage], completed=done)

    return report


def _show(recipe: Recipe, weights: dict[str, Weights], console: Console) -> None:
    table = Table(
        title=f"held-out percentile among all candidate sets (0 is best), {recipe.held_out} networks for each S",
        box=SIMPLE_HEAD,
    )
    table.add_column("model", no_wrap=True)
    for heading in ("FedL", "random scores", "±", "surrogate", "random scores", "±"):
        table.add_column(heading, justify="right")
    for name, one in weights.items():
        cells = [
            f"{one.provenance[f'{label}_{figure}']:.3f}"
            for label in ("fedl", "surrogate")
            for figure in ("percentile", "percentile_random_branch", "difference_error")
        ]
        table.add_row(f"{recipe.prefix}-{name}", *cells)
    console.print(table)
    console.print("±: standard error of the difference. Random scores: the same branch search without a network.")
