"""`fedsift simulate`: train FedL under several schemes and compare them."""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from fedl_sim.churn.churn import Churn
from fedl_sim.churn.policies import DEFAULT_POLICY, POLICIES
from fedl_sim.engines.factory import ENGINES
from fedl_sim.loop.devices import SETTINGS_HELP, TrainingSettings, is_fair
from fedl_sim.loop.loop import RunSettings
from fedl_sim.network.command import NetworkOptions
from fedl_sim.pictures import require_pictures
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
from fedl_sim.terminal import grouped, parse_seeds, print_whole, progress_bar
from sampler.schemes import scheme_names
from solver.horizon.transfer import DEFAULT_TRANSFER

__all__ = ["simulate"]

_SCHEMES = ",".join(scheme_names())
_CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True)
class RunOptions:
    """Options: how devices train, for how long, and on how many cores."""

    sample_size: Annotated[int, typer.Option("--sample-size", "-s", help="S.", min=1)] = 5
    aggregations: Annotated[int, typer.Option("--aggregations", "-k", help="K.", min=1)] = 10
    period: Annotated[int, typer.Option(help="τ, steps between aggregations.", min=1)] = 5
    learning_rate: Annotated[float, typer.Option(help="η.")] = 0.01
    batch_size: Annotated[int, typer.Option(help="Datapoints per mini-batch.", min=1)] = 10
    setting: Annotated[str, typer.Option(help=f"What a step is, {SETTINGS_HELP}.")] = "paper"
    transfer: Annotated[str, typer.Option(help="send_once, or redraw as in the paper.")] = DEFAULT_TRANSFER
    send: Annotated[str, typer.Option(help="any datapoints, or lacking: first of labels that the receiver lacks.")] = (
        "any"
    )
    processes: Annotated[int, typer.Option("--processes", "-j", help="Runs at a time.", min=1)] = 1
    threads: Annotated[int | None, typer.Option(help="Threads per run [default: the cores, shared].", min=1)] = None

    def settings(self) -> RunSettings:
        """Return how a run goes."""
        equal = is_fair(self.setting)
        return RunSettings(
            sample_size=self.sample_size,
            aggregations=self.aggregations,
            training=TrainingSettings(self.learning_rate, self.batch_size, self.period, equal),
            threads=self.threads or max(1, _CORES // self.processes),
            transfer=self.transfer,
            send=self.send,
        )


@dataclass(frozen=True)
class ChurnOptions:
    """Options: what goes wrong, and what is done about it."""

    loss: Annotated[float, typer.Option(help="Chance that a device goes down in a period.")] = 0.0
    absence: Annotated[float, typer.Option(help="Periods until it is back, on average.")] = Churn.absence
    trace: Annotated[str | None, typer.Option(help="CSV of device,period,state: who goes up and down, and when.")] = (
        None
    )
    straggling: Annotated[float, typer.Option(help="Chance that a device is slow in a period.")] = 0.0
    lost_transfers: Annotated[float, typer.Option(help="Chance that a datapoint sent does not arrive.")] = 0.0
    drift: Annotated[float, typer.Option(help="Share of its data that a device replaces in a period.")] = 0.0
    policy: Annotated[str, typer.Option(help=f"Who trains after a loss: {', '.join(POLICIES)}; see docs/churn.md.")] = (
        DEFAULT_POLICY
    )

    def settings(self) -> Churn | None:
        """Return what goes wrong; None if nothing does."""
        churn = Churn(self.loss, self.absence, self.trace, self.straggling, self.lost_transfers, self.drift)
        return None if churn == Churn(absence=self.absence) else churn


@grouped
def simulate(
    *,
    network: NetworkOptions,
    schemes: Annotated[str, typer.Option(help="Comma-separated; also SAMPLER or SAMPLER+METHOD.")] = _SCHEMES,
    seeds: Annotated[str, typer.Option(help="Comma-separated, or A:B for A..B−1.")] = "0",
    luck: Annotated[int, typer.Option(help="Other random numbers on the same networks.", min=0)] = 0,
    run: RunOptions,
    churn: ChurnOptions,
    model: Annotated[
        str | None, typer.Option(help="cnn, mlp or softmax [default: softmax for digits, else cnn].")
    ] = None,
    engine: Annotated[str, typer.Option(help=f"One of {', '.join(ENGINES)}.")] = "compiled",
    target: Annotated[float, typer.Option(help="Accuracy whose reaching is timed.")] = 0.85,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write everything as JSON.")] = None,
    plots: Annotated[Path | None, typer.Option(help="Folder for the plots, PNG and SVG.")] = None,
) -> None:
    """Train FedL for real under several schemes and compare them."""
    if plots is not None:
        require_pictures()
    console = Console(markup=False)
    settings = ExperimentSettings(
        data_set=network.data_set,
        model=model,
        engine=engine,
        realisation=network.settings(),
        run=run.settings(),
        schemes=tuple(name.strip() for name in schemes.split(",")),
        seeds=parse_seeds(seeds),
        churn=churn.settings(),
        policy=churn.policy,
        luck=luck,
        target=target,
    )
    experiment = _with_progress(settings, run.processes, console)
    _show(experiment, console)
    if output is not None:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(json.dumps(experiment_document(experiment), indent=1) + "\n", encoding="utf-8")
        console.print(f"wrote {output}")
    if plots is not None:
        for path in save_plots(experiment.runs, experiment.summaries, plots):
            console.print(f"wrote {path}")


def _with_progress(settings: ExperimentSettings, processes: int, console: Console) -> Experiment:
    total = len(jobs_of(settings)) * settings.run.aggregations
    with progress_bar(console) as bar:
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
        pad_edge=False,
        padding=0,
    )
    table.add_column("scheme", no_wrap=True)
    for heading in ("runs", "accuracy", f"K→{settings.target:g}", "trained", "moved", "kept", "cost"):
        table.add_column(heading, justify="right", no_wrap=True)
    for summary in experiment.summaries:
        table.add_row(*_row(summary))
    print_whole(console, table)
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
