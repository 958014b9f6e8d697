"""The settings of a command: what is wrong with them is told on one line, with the variable and its value."""

import os
from difflib import get_close_matches

import typer
from pydantic import ValidationError

from app.settings import Settings

__all__ = ["read_settings", "unknown_settings"]

_PREFIX = "FEDSIFT_"
# Variables of other programs of ours: clients, tests, and tools that make images.
_OTHERS = {"API_KEY", "KEY", "PUBLISH", "URL"}
_OTHER_PREFIXES = ("BASE_IMAGE", "IMAGE", "TEST_")


def read_settings(*, warn: bool = True, **given: object) -> Settings:
    """The settings of the environment and of options, which count more; unknown variables are warned of.

    Raises:
        FedsiftError: some are wrong.
    """
    options = {name: value for name, value in given.items() if value is not None}
    if warn:
        for name, near in unknown_settings().items():
            hint = f"; did you mean {near}?" if near else ""
            typer.echo(f"warning: {name} is not a setting of fedsift{hint}", err=True)
    try:
        return Settings(**options)  # type: ignore[arg-type]
    except ValidationError as error:
        wrong = [
            f"{_name(str(one['loc'][0]), options)} is {one['input']!r}: {_reason(one['msg'])}"
            for one in error.errors()
            if one["type"] != "default_factory_not_called"  # a consequence of another error
        ]
        from solver.errors import FedsiftError  # noqa: PLC0415 - loads the solver, which not every command needs

        raise FedsiftError("; ".join(wrong)) from error


def unknown_settings() -> dict[str, str | None]:
    """Variables `FEDSIFT_*` that are no settings, each with the setting that its name is nearest to."""
    known = [name.upper() for name in Settings.model_fields]
    ours = [name.removeprefix(_PREFIX) for name in sorted(os.environ) if name.startswith(_PREFIX)]
    strange = [name for name in ours if name not in {*known, *_OTHERS} and not name.startswith(_OTHER_PREFIXES)]
    nearest = {name: get_close_matches(name, known, n=1) for name in strange}
    return {_PREFIX + name: _PREFIX + near[0] if near else None for name, near in nearest.items()}


def _name(field: str, options: dict[str, object]) -> str:
    return f"--{field}" if field in options else f"{_PREFIX}{field.upper()}"


def _reason(text: str) -> str:
    return text.removeprefix("Value error, ").removeprefix("Input ")
