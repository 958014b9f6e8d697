"""The entry point of the console script `fedsift`, under a name that no other project has.

Our packages have common names. If a folder on PYTHONPATH has an `app/` of its own, Python would import that one. Then
our folder goes to the front of the import path, here and in every process that this one starts.
"""

import os
import sys
from importlib.machinery import PathFinder
from pathlib import Path

__all__ = ["main"]

_FOLDER = Path(__file__).parents[1]
_PACKAGES = ("app", "fedl_sim", "sampler", "solver")


def main() -> None:
    """Run the console script of our own `app`."""
    if not all(map(_is_ours, _PACKAGES)):
        sys.path.insert(0, str(_FOLDER))
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(_FOLDER), os.environ.get("PYTHONPATH")]))
        for name in [name for name in sys.modules if name.partition(".")[0] in _PACKAGES]:
            del sys.modules[name]  # a `sitecustomize` may have imported the other one
    from app.cli import main as run  # noqa: PLC0415 - not before the import path is right

    run()


def _is_ours(package: str) -> bool:
    """Whether an import would find the package in our folder."""
    found = PathFinder.find_spec(package)
    return found is not None and found.origin == str(_FOLDER / package / "__init__.py")
