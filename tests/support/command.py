"""The console script as a process of its own, with a database in a folder of the test."""

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.support.waiting import PATIENCE

__all__ = ["FEDSIFT", "SITE", "environment", "fedsift", "make_key", "packages_of_our_names"]

# First on the path of every process that may train.
SITE = str(Path(__file__).with_name("site"))
# Not the installed script: the code beside the tests is what they test.
FEDSIFT = (sys.executable, "-c", "from app.cli import main; main()")


def environment(folder: Path, **settings: str) -> dict[str, str]:
    """This process's environment with the service's settings, the database in `folder` unless they name another.

    One server process unless they ask for more: then the process that a test starts is the one that serves.
    """
    settings = {"database_url": f"sqlite:///{folder}/fedsift.db", "processes": "1"} | settings
    return {**os.environ, "PYTHONPATH": SITE, **{f"FEDSIFT_{name.upper()}": value for name, value in settings.items()}}


def fedsift(folder: Path, *arguments: str, **settings: str) -> "subprocess.CompletedProcess[str]":
    """Run `fedsift` with these arguments to its end."""
    return subprocess.run(
        [*FEDSIFT, *arguments],
        env=environment(folder, **settings),
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )


def make_key(folder: Path, name: str, *options: str) -> dict[str, str]:
    """An API key, as `fedsift keys create --json` prints it."""
    done = fedsift(folder, "keys", "create", name, *options, "--json")
    assert done.returncode == 0, done.stderr
    made: dict[str, str] = json.loads(done.stdout)
    return made


def packages_of_our_names(folder: Path) -> Path:
    """Make a folder with packages of our names that nobody may import."""
    for name in ("app", "fedl_sim", "sampler", "solver"):
        package = folder / name
        package.mkdir(parents=True)
        (package / "__init__.py").write_text(f"raise RuntimeError('the {name} of the working directory was loaded')\n")
    return folder
