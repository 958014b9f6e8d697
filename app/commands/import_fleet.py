"""`fedsift import`: a fleet from the file of a mesh, a graph, or tables of devices and links."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from app.imports.assembly import Defaults, Imported, make_fleet
from app.imports.draft import Source
from app.imports.formats import FORMATS, read_sources
from app.imports.tables import read_label_counts
from solver.errors import InvalidInputError

__all__ = ["import_fleet", "import_plainly"]

_DEVICE, _LINK = "Of a device without", "Of a link without"


def import_fleet(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="JSON (node-link, NetJSON, a mesh as columns), GraphML, OLSR or B.A.T.M.A.N. link lists; or CSV: "
            "devices and links, or a folder with devices.csv and links.csv.",
        ),
    ],
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Where to write [default: print it].")] = None,
    format_name: Annotated[
        str | None, typer.Option("--format", help=f"{', '.join(FORMATS)} [default: what the content looks like].")
    ] = None,
    label_counts: Annotated[Path | None, typer.Option(help="CSV with the columns id, class, count.")] = None,
    symmetric: Annotated[bool, typer.Option("--symmetric", help="Give every link its other way.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Refuse columns and fields that would be ignored.")] = False,
    step_seconds: Annotated[float, typer.Option(help="Length of a step.")] = Defaults.step_seconds,
    datapoint_bytes: Annotated[float, typer.Option(help="Size of a datapoint.")] = Defaults.datapoint_bytes,
    epochs_per_step: Annotated[float, typer.Option(help="Passes over the data.")] = Defaults.epochs_per_step,
    datapoints: Annotated[float, typer.Option(help=f"{_DEVICE}.")] = Defaults.datapoints,
    samples_per_second: Annotated[float, typer.Option(help=f"{_DEVICE}.")] = Defaults.samples_per_second,
    load: Annotated[float | None, typer.Option(help=f"{_DEVICE}; a share of its time.")] = None,
    storage_datapoints: Annotated[float | None, typer.Option(help=f"{_DEVICE}.")] = None,
    airtime_seconds: Annotated[float | None, typer.Option(help=f"{_DEVICE}.")] = None,
    joules_per_sample: Annotated[float | None, typer.Option(help=f"{_DEVICE}.")] = None,
    mbps: Annotated[float, typer.Option(help=f"{_LINK}.")] = Defaults.mbps,
    loss: Annotated[float | None, typer.Option(help=f"{_LINK}.")] = None,
    joules_per_megabyte: Annotated[float | None, typer.Option(help=f"{_LINK}.")] = None,
    similarity: Annotated[float | None, typer.Option(help=f"{_LINK}.")] = None,
) -> None:
    """Make a fleet of what you have. What was assumed is told on standard error."""
    with _refusals():
        defaults = Defaults(
            step_seconds=step_seconds,
            datapoint_bytes=datapoint_bytes,
            epochs_per_step=epochs_per_step,
            datapoints=datapoints,
            samples_per_second=samples_per_second,
            load=load,
            storage_datapoints=storage_datapoints,
            airtime_seconds=airtime_seconds,
            joules_per_sample=joules_per_sample,
            mbps=mbps,
            loss=loss,
            joules_per_megabyte=joules_per_megabyte,
            similarity=similarity,
        )
        draft = read_sources(_sources(files), format_name)
        labels = () if label_counts is None else read_label_counts(_source(label_counts))
        imported = make_fleet(draft, defaults, label_counts=labels, symmetric=symmetric, strict=strict)
        _write(imported.fleet, output)
    _tell(imported)


def import_plainly(path: Path) -> dict[str, Any]:
    """The fleet of one file or folder, with the usual assumptions; they are told on standard error."""
    with _refusals():
        imported = make_fleet(read_sources(_sources([path])), Defaults())
    _tell(imported)
    return imported.fleet


def _tell(imported: Imported) -> None:
    for line in imported.report.lines():
        typer.echo(line, err=True)


@contextmanager
def _refusals() -> Iterator[None]:
    """Tell on one line what is wrong with a file, and end with exit status 2."""
    try:
        yield
    except OSError as error:
        typer.echo(f"{error.filename}: {error.strerror}", err=True)
        raise typer.Exit(2) from error
    except InvalidInputError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(2) from error


def _sources(files: list[Path]) -> list[Source]:
    """The files' contents; a folder stands for the tables in it."""
    if len(files) == 1 and files[0].is_dir():
        files = [files[0] / "devices.csv", files[0] / "links.csv"]
    return [_source(path) for path in files]


def _source(path: Path) -> Source:
    return Source(path.name, path.read_bytes())


def _write(fleet: dict[str, Any], output: Path | None) -> None:
    text = json.dumps(fleet, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    if output is None:
        typer.echo(text)
    else:
        output.write_text(text + "\n", encoding="utf-8")
