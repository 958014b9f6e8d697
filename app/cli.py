"""The `fedsift` console script: it gathers the commands that installed packages declare.

A command is an entry point of the group `fedsift.commands` whose value is a function with typer
annotations, or a typer application. So the service's package offers the simulator's commands without
importing it.
"""

import sys
from importlib.metadata import EntryPoint, entry_points, version
from typing import Annotated

import typer

__all__ = ["GROUP", "build_cli", "main"]

GROUP = "fedsift.commands"


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"fedsift {version('fedsift')}")
        raise typer.Exit


def build_cli(only: str | None = None) -> typer.Typer:
    """Build the command line from the declared commands, in the order of their names.

    `only` loads that one command, if it is declared: a server should not load the simulator to start.
    """
    cli = typer.Typer(name="fedsift", no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode=None)

    @cli.callback()
    def options(
        show_version: Annotated[
            bool,
            typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version."),
        ] = False,
    ) -> None:
        """Device sampling and D2D offloading for federated learning."""

    points = sorted(entry_points(group=GROUP), key=lambda point: point.name)
    named = [point for point in points if point.name == only]
    for point in named or points:
        _add(cli, point)
    return cli


def _add(cli: typer.Typer, point: EntryPoint) -> None:
    command = point.load()
    if isinstance(command, typer.Typer):
        cli.add_typer(command, name=point.name)
    else:
        cli.command(name=point.name)(command)


def main() -> None:
    """Run the console script."""
    build_cli(only=next(iter(sys.argv[1:]), None))()
