"""What the simulator's commands share: groups of options, lists of numbers, progress bars.

Commands raise a `FedsiftError` for what a user can mend; the console script prints it on one line.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.measure import Measurement
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from fedl_sim.errors import InvalidSettingError, SimulationError

__all__ = ["FanOut", "grouped", "parse_numbers", "parse_seeds", "print_whole", "progress_bar"]


@dataclass(frozen=True)
class FanOut:
    """Options: where independent work runs."""

    processes: Annotated[int, typer.Option("--processes", "-j", help="Local processes at work at a time.", min=1)] = 1
    dask: Annotated[
        str | None, typer.Option(help="Run on the Dask cluster of this scheduler instead, tcp://HOST:PORT.")
    ] = None


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Let a typer command take dataclasses: every field of such a parameter becomes an option of the command.

    A failure of the operating system becomes a `SimulationError`.
    """
    parameters = inspect.signature(command).parameters
    groups: dict[str, Any] = {name: p.annotation for name, p in parameters.items() if is_dataclass(p.annotation)}
    options = []
    for name, parameter in parameters.items():
        if name not in groups:
            options.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))
            continue
        options += [
            inspect.Parameter(f.name, inspect.Parameter.KEYWORD_ONLY, default=f.default, annotation=f.type)
            for f in fields(groups[name])
        ]

    def run(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = group(**{f.name: given.pop(f.name) for f in fields(group)})
        try:
            command(**given)
        except OSError as error:  # a full disk, a folder that may not be written to
            raise SimulationError(str(error)) from error

    # Not functools.wraps: typer would follow it to the command's own parameters.
    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
    run.__annotations__ = {option.name: option.annotation for option in options}
    return run


def parse_numbers(text: str, option: str) -> tuple[int, ...]:
    """Read `3,4,5`, or `none` for none.

    Raises:
        InvalidSettingError: it is another text; `option` is named in the message.
    """
    if text == "none":
        return ()
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise InvalidSettingError(f"{option} must be numbers like 3,4,5, not {text!r}") from None


def parse_seeds(text: str) -> tuple[int, ...]:
    """Read `0,1,2`, or `A:B` for A..B−1.

    >>> parse_seeds("3:5")
    (3, 4)
    """
    try:
        if ":" in text:
            first, last = text.split(":")
            return tuple(range(int(first), int(last)))
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise InvalidSettingError(f"seeds must be numbers like 0,1,2 or a range like 0:5, not {text!r}") from None


def progress_bar(console: Console, *, transient: bool = True) -> Progress:
    """Return a bar that counts pieces of work and shows the time they take; a transient one vanishes at the end."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=transient,
    )


def print_whole(console: Console, table: Table) -> None:
    """Print a table with all its digits: in a terminal that is too narrow, lines run on instead of being cut."""
    wide = Console(file=console.file, width=10_000, markup=False)
    wide.width = max(console.width, Measurement.get(wide, wide.options, table).maximum)
    wide.print(table)
