"""Commands without the extra that they need: one line that names it, and no traceback."""

import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from app.cli import GROUP
from tests.support.waiting import PATIENCE

WITHOUT = """
import sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {absent!r}:
            raise ModuleNotFoundError(f"No module named {{name}}", name=name)
sys.meta_path.insert(0, Refuse())
import importlib.util
found = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name in {absent!r} else found(name, *rest)
from app.cli import main
main()
"""
POSTGRES = "postgresql://nobody@127.0.0.1:1/nothing"
NO_DRIVER = "a postgresql:// database needs psycopg: install fedsift[postgres]"


def fedsift(folder: Path, *arguments: str, absent: set[str], **settings: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", WITHOUT.format(absent=absent), *arguments]
    given = {f"FEDSIFT_{name.upper()}": value for name, value in settings.items()}
    environment = {"PYTHONPATH": ":".join(sys.path), "HOME": str(folder), **given}
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE, env=environment)


@pytest.mark.parametrize(
    ("absent", "arguments", "settings", "line"),
    [
        ("uvicorn", ["serve"], {}, "fedsift serve needs uvicorn: install fedsift[serve]"),
        ("pydantic_settings", ["plan", "x.json"], {}, "fedsift plan needs pydantic_settings: install fedsift[serve]"),
        ("joblib", ["simulate", "--help"], {}, "fedsift simulate needs joblib: install fedsift[sim]"),
        ("joblib", ["train", "--help"], {}, "fedsift train needs joblib: install fedsift[train]"),
        ("torch_geometric", ["train"], {}, "training needs torch_geometric: install fedsift[train]"),
        ("matplotlib", ["simulate", "--plots", "p"], {}, "figures need matplotlib: install fedsift[plots]"),
        ("networkx", ["serve", "--workers", "1"], {}, "validation workers need networkx: install fedsift[worker]"),
        ("joblib", ["worker"], {}, "validation workers need joblib: install fedsift[worker]"),
        *(("psycopg", words, {"database_url": POSTGRES}, NO_DRIVER) for words in (["serve"], ["keys", "list"])),
    ],
)
def test_a_missing_extra_is_named(
    tmp_path: Path, absent: str, arguments: list[str], settings: dict[str, str], line: str
) -> None:
    done = fedsift(tmp_path, *arguments, absent={absent}, **settings)
    assert (done.returncode, done.stderr) == (2, f"{line}\n")


def test_the_list_of_commands_is_whole_without_any_extra(tmp_path: Path) -> None:
    done = fedsift(tmp_path, "--help", absent={"fastapi", "pydantic_settings", "joblib", "networkx"})
    assert done.returncode == 0, done.stderr
    listed = dict(line.split(maxsplit=1) for line in done.stdout.partition("Commands:\n")[2].splitlines())
    assert sorted(listed) == sorted(point.name for point in entry_points(group=GROUP))
    assert (listed["serve"], listed["simulate"]) == ("(install fedsift[serve])", "(install fedsift[sim])")


def test_other_import_errors_are_not_hidden(tmp_path: Path) -> None:
    done = fedsift(tmp_path, "serve", absent={"sampler"})
    assert done.returncode == 1
    assert "ModuleNotFoundError: No module named sampler" in done.stderr
