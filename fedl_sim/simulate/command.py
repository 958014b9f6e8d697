"""The simulator's commands: `fedsift simulate` and `fedsift generate`."""

import json
import os
from pathlib import Path
from typing import Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from fedl_sim.data.datasets import DATA_SETS, load_data_set
from fedl_sim.engines.factory import ENGINES
from fedl_sim.errors import SimulationError
from fedl_sim.loop.devices import TrainingSettings
from fedl_sim.loop.loop import RunSettings
from fedl_sim.network.profiles import BUDGETS
from fedl_sim.network.realisation import RealisationSettings, realise
from fedl_sim.network.topology import RANDOM_TOPOLOGIES
from fedl_sim.seeds import parse_seeds
from fedl_sim.simulate.plots import save_plots
from fedl_sim.simulate.summary import SchemeSummary
from fedl_sim.simulate.sweep import (
    Experiment,
    ExperimentSettings,
    Job,
    experiment_document,
    jobs_of,
)
from fedl_sim.simulate.sweep import simulate as run_experiment
from sampler.schemes import scheme_names
from solver.errors import FedsiftError
from solver.interchange import save_network

__all__ = ["generate", "simulate"]

DataSetOption = Annotated[str, typer.Option("--data-set", help=f"One of {', '.join(DATA_SETS)}.")]
DevicesOption = Annotated[
    int | None, typer.Option("--devices", "-n", help="N [default: 100, or a topology file's own].", min=1)
]
TopologyOption = Annotated[
    str, typer.Option(help=f"One of {', '.join(RANDOM_TOPOLOGIES)}, or a .graphml or .json file.")
]
DensityOption = Annotated[float, typer.Option("--link-probability", help="Density of random graphs.")]
MeanOption = Annotated[
    float | None, typer.Option("--mean-datapoints", help="μ per device [default: share the data set out].")
]
LabelsOption = Annotated[int, typer.Option("--labels-per-device", help="Labels a device draws from.", min=1)]
BudgetOption = Annotated[str, typer.Option(help=f"A step's limits: {', '.join(BUDGETS)}.")]
RevealOption = Annotated[bool, typer.Option(help="Give samplers the devices' label counts.")]


def simulate(
    data_set: DataSetOption = "digits",
    devices: DevicesOption = None,
    topology: TopologyOption = "erdos-renyi",
    link_probability: DensityOption = 0.1,
    mean_datapoints: MeanOption = None,
    labels_per_device: LabelsOption = 3,
    budget: BudgetOption = "loose",
    reveal_labels: RevealOption = True,
    schemes: Annotated[str, typer.Option(help="Comma-separated; also SAMPLER or SAMPLER+METHOD.")] = ",".join(
        scheme_names()
    ),
    seeds: Annotated[str, typer.Option(help="Comma-separated, or A:B for A..B−1.")] = "0",
    sample_size: Annotated[int, typer.Option("--sample-size", "-s", help="S.", min=1)] = 5,
    aggregations: Annotated[int, typer.Option("--aggregations", "-k", help="K.", min=1)] = 10,
    period: Annotated[int, typer.Option(help="τ, steps between aggregations.", min=1)] = 5,
    learning_rate: Annotated[float, typer.Option(help="η.")] = 0.01,
    batch_size: Annotated[int, typer.Option(help="Datapoints per mini-batch.", min=1)] = 10,
    model: Annotated[
        str | None, typer.Option(help="cnn, mlp or softmax [default: softmax for digits, else cnn].")
    ] = None,
    engine: Annotated[str, typer.Option(help=f"One of {', '.join(ENGINES)}.")] = "compiled",
    target: Annotated[float, typer.Option(help="Accuracy whose reaching is timed.")] = 0.85,
    processes: Annotated[int, typer.Option("--processes", "-j", help="Runs at a time.", min=1)] = 1,
    threads: Annotated[int | None, typer.Option(help="Threads per run [default: the cores, shared].", min=1)] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write everything as JSON.")] = None,
    plots: Annotated[Path | None, typer.Option(help="Folder for the plots, PNG and SVG.")] = None,
) -> None:
    """Train FedL for real under several schemes and compare them."""
    console = Console()
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        settings = ExperimentSettings(
            data_set=data_set,
            model=model,
            engine=engine,
            realisation=_realisation_settings(
                devices,
                topology,
                link_probability=link_probability,
                mean_datapoints=mean_datapoints,
                labels_per_device=labels_per_device,
                budget=budget,
                reveal_labels=reveal_labels,
            ),
            run=RunSettings(
                sample_size=sample_size,
                aggregations=aggregations,
                training=TrainingSettings(learning_rate, batch_size, period),
                threads=threads or max(1, cores // processes),
            ),
            schemes=tuple(name.strip() for name in schemes.split(",")),
            seeds=parse_seeds(seeds),
            target=target,
        )
        experiment = _with_progress(settings, processes, console)
        _show(experiment, console)
        if output is not None:
            output.parent.mkdir(parents=True, exist_ok=True)
            output.write_text(json.dumps(experiment_document(experiment), indent=1) + "\n", encoding="utf-8")
            console.print(f"wrote {output}")
        if plots is not None:
            for path in save_plots(experiment.runs, experiment.summaries, plots):
                console.print(f"wrote {path}")
    except (SimulationError, FedsiftError, ValueError, OSError) as error:
        raise _stop(error) from error


def generate(
    output: Annotated[Path, typer.Argument(help="Where to write the network, as .npz.")],
    data_set: DataSetOption = "digits",
    devices: DevicesOption = None,
    topology: TopologyOption = "erdos-renyi",
    link_probability: DensityOption = 0.1,
    mean_datapoints: MeanOption = None,
    labels_per_device: LabelsOption = 3,
    budget: BudgetOption = "loose",
    reveal_labels: RevealOption = True,
    seed: Annotated[int, typer.Option(help="Which realisation.")] = 0,
) -> None:
    """Draw a network realisation and write it to a file that the solver and the service can read."""
    try:
        settings = _realisation_settings(
            devices,
            topology,
            link_probability=link_probability,
            mean_datapoints=mean_datapoints,
            labels_per_device=labels_per_device,
            budget=budget,
            reveal_labels=reveal_labels,
        )
        network = realise(settings, load_data_set(data_set), seed).network
        output.parent.mkdir(parents=True, exist_ok=True)
        save_network(network, output)
    except (SimulationError, FedsiftError, ValueError, OSError) as error:
        raise _stop(error) from error
    similarity = network.links.similarity.mean() if len(network.links) else float("nan")
    Console().print(
        f"wrote {output}: {len(network)} devices with {network.total_data:.0f} datapoints, "
        f"{len(network.links)} links, mean similarity {similarity:.3f}"
    )


def _realisation_settings(
    devices: int | None,
    topology: str,
    *,
    link_probability: float,
    mean_datapoints: float | None,
    labels_per_device: int,
    budget: str,
    reveal_labels: bool,
) -> RealisationSettings:
    return RealisationSettings(
        n_devices=100 if devices is None and topology in RANDOM_TOPOLOGIES else devices,
        topology=topology,
        link_probability=link_probability,
        mean_datapoints=mean_datapoints,
        labels_per_device=labels_per_device,
        budget=budget,
        reveal_labels=reveal_labels,
    )


def _with_progress(settings: ExperimentSettings, processes: int, console: Console) -> Experiment:
    total = len(jobs_of(settings)) * settings.run.aggregations
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("aggregations", total=total)

        def advance(job: Job, count: int) -> None:
            bar.update(task, advance=count, description=f"{job.scheme}, seed {job.seed}")

        return run_experiment(settings, processes=processes, progress=advance)


def _show(experiment: Experiment, console: Console) -> None:
    settings = experiment.settings
    table = Table(
        title=f"{settings.data_set}, {settings.model_name}, S = {settings.run.sample_size}, "
        f"K = {settings.run.aggregations}, τ = {settings.run.training.aggregation_period}, "
        f"{len(settings.seeds)} seed(s)",
        box=SIMPLE_HEAD,
    )
    table.add_column("scheme", no_wrap=True)
    for heading in ("runs", "accuracy", f"K→{settings.target:g}", "trained", "moved", "kept", "cost"):
        table.add_column(heading, justify="right", no_wrap=True)
    for summary in experiment.summaries:
        table.add_row(*_row(summary))
    console.print(table)
    console.print(
        f"K→{settings.target:g}: aggregations to that accuracy, or in brackets the share of runs that reached it. "
        "Trained, moved, kept: datapoints."
    )


def _row(summary: SchemeSummary) -> tuple[str, ...]:
    reached = summary.aggregations_to_target
    return (
        summary.scheme,
        str(summary.runs),
        f"{summary.accuracy[-1]:.3f} ± {summary.accuracy_deviation[-1]:.3f}",
        f"({summary.reached:.0%})" if reached is None else f"{reached:.1f}",
        f"{summary.processed:.0f}",
        f"{summary.moved:.0f}",
        f"{summary.useful:.0f}",
        f"{summary.cost:.0f}",
    )


def _stop(error: Exception) -> typer.Exit:
    Console(stderr=True).print(f"[bold red]error:[/] {error}", highlight=False)
    return typer.Exit(code=2)
