"""A problem document on the terminal, whether this process or a service refused."""

import json
from typing import Any

import typer

__all__ = ["print_problem"]


def print_problem(problem: dict[str, Any], *, as_json: bool) -> None:
    """Print the problem as JSON on standard output, or for people on standard error."""
    if as_json:
        typer.echo(json.dumps(problem))
        return
    typer.echo(f"{problem.get('title', 'refused')}: {problem.get('detail', '')}", err=True)
    for item in problem.get("errors", ()):
        place = item.get("parameter") or item.get("header") or item.get("pointer") or "/"
        typer.echo(f"  {place}: {item['detail']}", err=True)
    for one in problem.get("devices", ()):
        typer.echo(f"  device {one['device']}, step {one['step']}: {one['reason']}", err=True)
