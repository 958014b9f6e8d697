"""`fedsift compare`: plans for several samplers, sample sizes, budgets and seeds, side by side and without a server."""

import csv
import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from app.commands.environment import read_settings
from app.commands.given_file import read_request
from app.commands.output.curves import check_picture
from app.commands.output.size_figure import save_size_figure
from app.commands.output.text_table import text_table
from app.commands.refusals import print_problem
from app.comparisons.answer import ComparisonOut, ComparisonRow, MeanInterval
from app.comparisons.request import ComparisonRequest
from app.comparisons.rows import Comparison, make_rows
from app.http.problems import ServiceError
from app.wire.arrays import read_model, read_plainly
from app.wire.base import given
from app.wire.fleet import Translated
from app.wire.pointers import located
from solver import load_network, proven_gap

__all__ = ["compare"]

T = TypeVar("T", int, float)

# What the service does not allow may be asked for here: nobody else waits.
_LONGEST, _MOST_ROWS = 1e6, 100_000
# Samplers that do not draw differ by this from seed to seed, relative to the objective.
_ROUNDING = 1e-6
# What a request for a plan has and one for a comparison has not.
_OF_PLANS = ("sample_size", "sampler", "seed", "output", "orders", "solver", "name", "labels", "keep", "dry_run")


def compare(
    network: Annotated[
        Path,
        typer.Argument(
            help="JSON as POST /v1/comparisons or /v1/plans takes it, or its `network` or `fleet` alone, a network as "
            ".npz, or a file that `fedsift import` reads; - reads JSON from standard input."
        ),
    ],
    samplers: Annotated[str | None, typer.Option(help="As greedy,random.")] = None,
    sizes: Annotated[
        str | None, typer.Option("--sizes", "-s", help="How many devices train, as 2,4,8 or 1-10.")
    ] = None,
    scales: Annotated[str | None, typer.Option(help="Factors of the budgets, as 1,0.5.")] = None,
    seeds: Annotated[str | None, typer.Option(help="As 0-4.")] = None,
    horizon: Annotated[int | None, typer.Option("-t", "--horizon", help="Steps to plan.")] = None,
    baseline: Annotated[str | None, typer.Option(help="The sampler that others are measured against.")] = None,
    time_limit: Annotated[float, typer.Option(help="Seconds for all rows together.")] = 3600.0,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Where to write all rows, as .csv, or the answer, as .json.")
    ] = None,
    figure: Annotated[
        Path | None, typer.Option(help="Where to draw the objective over the number of devices, as .svg, .pdf or .png.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the answer the service would give.")] = False,
) -> None:
    """Compare plans: which sampler, how many devices, what if budgets were smaller?

    Options win over what the file says.
    """
    options = given(
        samplers=samplers and samplers.split(","),
        sample_sizes=_numbers(sizes, int, "--sizes"),
        budget_scales=_numbers(scales, float, "--scales"),
        seeds=_numbers(seeds, int, "--seeds"),
        horizon=horizon,
        baseline=baseline and {"sampler": baseline},
        time_limit=time_limit,
    )
    _check_suffix(output)
    if figure is not None:
        check_picture(figure, "--figure")
    try:
        comparison = _comparison(network, options)
        compared = ComparisonOut.from_domain(comparison, make_rows(comparison))
    except OSError as error:
        typer.echo(f"{network}: {error.strerror}", err=True)
        raise typer.Exit(2) from error
    except ServiceError as error:
        print_problem(error.problem().model_dump(exclude_defaults=True), as_json=as_json)
        raise typer.Exit(1) from error
    if output is not None:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(_csv(compared) if output.suffix == ".csv" else _json(compared), encoding="utf-8")
    if figure is not None:
        save_size_figure(compared, figure)
    if as_json:
        typer.echo(_json(compared))
    else:
        _show(compared)


def _numbers(text: str | None, kind: Callable[[str], T], option: str) -> list[T] | None:
    """Numbers separated by commas; whole ones also as ranges, 1-10."""
    if text is None:
        return None
    try:
        return [number for word in text.split(",") for number in _range(word, kind)]
    except ValueError:
        raise typer.BadParameter("give numbers, as 2,4,8, or whole ones as 1-10", param_hint=option) from None


def _range(word: str, kind: Callable[[str], T]) -> Iterator[T]:
    first, dash, last = word.partition("-")
    if not dash or kind is float:
        yield kind(word)
        return
    if not int(first) <= int(last) < int(first) + _MOST_ROWS:
        raise ValueError(word)
    yield from map(kind, map(str, range(int(first), int(last) + 1)))


def _check_suffix(output: Path | None) -> None:
    if output is not None and output.suffix not in {".csv", ".json"}:
        raise typer.BadParameter("must end in .csv or .json", param_hint="--output")


def _comparison(path: Path, options: dict[str, Any]) -> Comparison:
    settings = read_settings().model_copy(update={"max_time_limit": _LONGEST, "comparison_rows": _MOST_ROWS})
    if path.suffix == ".npz":
        with located({}):
            network = load_network(path)
        request = read_plainly(ComparisonRequest, json.dumps(options).encode())
        return request.comparison_of(Translated(network), settings)
    content, text = read_request(path)
    if isinstance(content, dict):
        text = json.dumps({**_of_plan(content), **options}).encode()
    return read_model(ComparisonRequest, text).to_domain(settings)


def _of_plan(content: dict[str, Any]) -> dict[str, Any]:
    """A request for a plan as one for a comparison; its sample size and sampler are the only ones of their lists."""
    if {"sample_sizes", "samplers"} & content.keys() or not {"sample_size", "sampler"} & content.keys():
        return content
    lists = {"sample_sizes": "sample_size", "samplers": "sampler", "seeds": "seed"}
    kept = {name: value for name, value in content.items() if name not in _OF_PLANS}
    return kept | {name: [content[one]] for name, one in lists.items() if one in content}


def _json(compared: ComparisonOut) -> str:
    return compared.__pydantic_serializer__.to_json(compared, exclude_none=True).decode()


def _csv(compared: ComparisonOut) -> str:
    """A line for each row, with every digit."""
    rows = [_flat(row) for row in compared.rows]
    names = list(dict.fromkeys(name for row in rows for name in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _flat(row: ComparisonRow) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in row.model_dump(exclude_none=True).items():
        if isinstance(value, dict):
            flat |= {f"{name}_{inner}": number for inner, number in value.items()}
        else:
            flat[name] = " ".join(map(str, value)) if isinstance(value, list) else value
    return flat


def _show(compared: ComparisonOut) -> None:
    joules = any(group.joules for group in compared.groups)
    scales = len({group.budget_scale for group in compared.groups}) > 1
    names = ["sampler", "S", "budgets", "objective", "±", "to base %", "gap ≤", "sent", "joules", "cover", "rank"]
    hidden = {name for name, told in (("budgets", scales), ("joules", joules)) if not told}
    lines = [_cells(compared, number) for number in range(len(compared.groups))]
    kept = [place for place, name in enumerate(names) if name not in hidden]
    typer.echo(text_table([names[place] for place in kept], [[line[place] for place in kept] for line in lines]))
    typer.echo("±: half of the 95 % interval over seeds, for samplers that draw.")
    typer.echo("to base: the objective against the line that says base, compared seed by seed.")
    typer.echo("gap: no choice of S devices is better by more than this.")
    typer.echo(
        f"*: no other line beats it in objective{', datapoints sent and joules' if joules else ' and datapoints sent'}."
    )
    typer.echo("Lines of one S and budget with the same rank are tied.")
    for reason, count in _reasons(compared).items():
        typer.echo(f"{count} of {len(compared.rows)} rows have no plan: {reason}")


def _cells(compared: ComparisonOut, number: int) -> list[str]:
    group = compared.groups[number]
    name = [group.sampler, str(group.sample_size), f"{group.budget_scale:g}"]
    if group.objective is None:
        return [*name, *["-"] * 8]
    mean, bound = group.objective.mean, group.set_bound or 0.0
    half = _half(group.objective, mean)
    return [
        *name,
        f"{mean:.6g}",
        "" if half is None else f"{half:.1g}",
        _to_base(compared, number),
        f"{proven_gap(mean, bound):.2%}",
        _shown(group.datapoints_sent),
        _shown(group.joules),
        "" if group.coverage is None else f"{group.coverage.mean:.0%}",
        f"{group.rank}{'*' if group.pareto else ' '}",
    ]


def _to_base(compared: ComparisonOut, number: int) -> str:
    """The mean difference to the baseline and half of its interval, in percent of the baseline's mean objective."""
    found = compared.groups[number].difference
    base = None if found is None else compared.groups[found.baseline].objective
    if found is None or base is None or base.mean <= 0:
        return "-"
    if found.baseline == number:
        return "base"
    if found.tied:
        return "tied"
    half = _half(found.objective, base.mean)
    return f"{100 * found.objective.mean / base.mean:+.2f}" + ("" if half is None else f"±{100 * half / base.mean:.2f}")


def _half(found: MeanInterval, size: float) -> float | None:
    """Half of the interval; None without an interval, or if it is rounding for numbers of this size."""
    half = 0.0 if found.high is None else found.high - found.mean
    return half if half > _ROUNDING * abs(size) else None


def _shown(found: MeanInterval | None) -> str:
    return "" if found is None else f"{found.mean:.1f}"


def _reasons(compared: ComparisonOut) -> dict[str, int]:
    counts: dict[str, int] = {}
    for row in compared.rows:
        if row.reason is not None:
            counts[row.reason] = counts.get(row.reason, 0) + 1
    return counts
