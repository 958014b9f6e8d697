"""The `fedsift` console script, made of the commands that installed packages declare.

A command is an entry point of the group `fedsift.commands`. Its value is a function with typer annotations, or a typer
application. So the service's package offers the simulator's commands without importing it. A command whose extra is not
installed says which one it needs. A command raises a `FedsiftError` for what its user can mend: this script prints it
on one line and ends with exit status 1.
"""

import os
import sys
from importlib.metadata import EntryPoint, entry_points, version
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

__all__ = ["GROUP", "build_cli", "main"]

GROUP = "fedsift.commands"
# Which extra has what the commands of a package import; the first match counts.
_EXTRAS = (("fedl_sim.train.", "train"), ("fedl_sim.", "sim"), ("app.", "serve"))
_OWN = {"app", "fedl_sim", "sampler", "solver"}


class _Commands(TyperGroup):
    """Prints a `FedsiftError` on one line; only bugs have a traceback."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except Exception as error:
            if not _is_ours(error, "FedsiftError") or _is_ours(error, "MissingExtraError"):
                raise  # `main` tells a missing extra, wherever it is noticed
            typer.echo(f"error: {error}", err=True)
            raise typer.Exit(1) from error


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"fedsift {version('fedsift')}")
        raise typer.Exit


def build_cli(only: str | None = None, *, load: bool = True) -> typer.Typer:
    """Build the command line from the declared commands, in the order of their names.

    `only` loads that one command, if it is declared: a server should not load the simulator to start. Without `load` it
    has the names of all commands, and loads none: a shell that completes a name should not wait.

    Raises:
        MissingExtraError: that one command needs an extra that is not installed.
    """
    cli = typer.Typer(
        name="fedsift", cls=_Commands, no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode=None
    )

    @cli.callback()
    def options(
        show_version: Annotated[
            bool,
            typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version."),
        ] = False,
    ) -> None:
        """Device sampling and D2D offloading for federated learning."""

    points = sorted(entry_points(group=GROUP), key=lambda point: point.name)
    named = [point for point in points if point.name == only and load]
    for point in named or points:
        if load:
            _add(cli, point, keep_going=not named)
        else:
            cli.command(name=point.name)(lambda: None)
    return cli


def _add(cli: typer.Typer, point: EntryPoint, *, keep_going: bool) -> None:
    try:
        command = _load(point)
    except Exception as error:
        if not (keep_going and _is_ours(error, "MissingExtraError")):
            raise
        # The list of commands has it all the same, with the extra that it needs.
        cli.command(name=point.name, help=f"({str(error).rpartition(': ')[2]})")(lambda: None)
        return
    if isinstance(command, typer.Typer):
        cli.add_typer(command, name=point.name)
    else:
        cli.command(name=point.name)(command)


def _load(point: EntryPoint) -> Any:
    try:
        return point.load()
    except ModuleNotFoundError as error:
        extra = next((extra for package, extra in _EXTRAS if point.module.startswith(package)), None)
        if extra is None or str(error.name).partition(".")[0] in _OWN:
            raise
        from solver.errors import MissingExtraError  # noqa: PLC0415 - see `_is_ours`

        raise MissingExtraError(f"fedsift {point.name} needs {error.name}: install fedsift[{extra}]") from error


def _is_ours(error: Exception, name: str) -> bool:
    """Whether it is an error of this name in `solver.errors`; loading `solver` takes longer than many a command."""
    errors = sys.modules.get("solver.errors")
    return errors is not None and isinstance(error, getattr(errors, name))


def _completed_words() -> list[str] | None:
    """The words after `fedsift` that a shell asks to complete; None if it does not ask."""
    if "_FEDSIFT_COMPLETE" not in os.environ:
        return None
    line = os.environ.get("COMP_WORDS") or os.environ.get("_TYPER_COMPLETE_ARGS", "")
    words = line.split()[1:]
    # After a space the next word begins, though the line does not show it.
    complete = line.endswith(" ") or int(os.environ.get("COMP_CWORD") or len(words)) > len(words)
    return [*words, ""] if complete else words or [""]


def main() -> None:
    """Run the console script."""
    words = _completed_words()
    try:
        cli = build_cli(next(iter(sys.argv[1:]), None)) if words is None else build_cli(words[0], load=len(words) > 1)
        cli()
    except Exception as error:
        if not _is_ours(error, "MissingExtraError"):
            raise
        typer.echo(str(error), err=True)
        sys.exit(2)
