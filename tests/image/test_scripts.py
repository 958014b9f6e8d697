"""The scripts that make the image, where they can be tried without a container engine."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.support.image_scripts import FOLDER, load

ROOT = FOLDER.parents[1]


def test_dependencies_follow_extras_of_our_own() -> None:
    project = {
        "name": "x",
        "dependencies": ["b>=1"],
        "optional-dependencies": {"one": ["a"], "two": ["x[one]", "c"], "other": ["d"]},
    }
    requirements = load("dependencies").requirements
    assert requirements(project, []) == ["b>=1"]
    assert requirements(project, ["two"]) == ["a", "b>=1", "c"]


def test_only_the_workers_image_has_torch_and_both_have_postgresql() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    dockerfile = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    extras = [names.split() for names in re.findall(r"dependencies\.py pyproject\.toml ([a-z ]+) >", dockerfile)]
    serve, worker = (load("dependencies").requirements(project, each) for each in extras)
    for lines, has_torch in ((serve, False), (worker, True)):
        names = {re.split(r"[^a-z-]", line)[0] for line in lines}
        assert ("torch" in names) == ("joblib" in names) == has_torch
        assert {"cvxpy-base", "fastapi", "numba", "opentelemetry-sdk", "psycopg"} <= names


FLAGS = "flags\t\t: fpu sse4_2 abm avx2 bmi1 bmi2 f16c fma movbe"


@pytest.mark.parametrize(
    ("machine", "information", "found"),
    [
        ("x86_64", f"processor: 0\n{FLAGS}\n", ["x86-64-v3", "generic"]),
        ("x86_64", FLAGS.replace(" avx2", ""), ["generic"]),
        ("x86_64", "", ["generic"]),
        ("aarch64", FLAGS, ["generic"]),
    ],
)
def test_kinds_of_processors(machine: str, information: str, found: list[str]) -> None:
    script = (
        "import json, sys; import processor_kind as p; "
        "print(json.dumps(p.kinds(sys.argv[1], sys.argv[2]))); import os; print(os.environ['NUMBA_CPU_NAME'])"
    )
    environment = {**os.environ, "PYTHONPATH": str(FOLDER), "NUMBA_CPU_NAME": "mine"}
    done = subprocess.run(
        [sys.executable, "-c", script, machine, information],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    kinds, chosen = done.stdout.splitlines()
    assert kinds == str(found).replace("'", '"')
    assert chosen == "mine", "what is set from outside stays"


def test_a_root_is_complete(tmp_path: Path) -> None:
    """Links stay links, folders on the way are kept, and libraries are found as the loader finds them."""
    rootfs = load("rootfs")
    real = tmp_path / "real" / "file-1.0"
    real.parent.mkdir()
    real.write_text("content")
    (tmp_path / "name").symlink_to("real/file-1.0")
    (tmp_path / "folder").symlink_to("real")
    root = tmp_path / "root"
    rootfs._copy(tmp_path / "name", root)
    rootfs._copy(tmp_path / "folder" / "file-1.0", root)
    below = root / tmp_path.relative_to("/")
    assert (below / "name").is_symlink()
    assert (below / "name").read_text() == "content"
    assert (below / "folder").is_symlink()
    assert (below / "folder" / "file-1.0").read_text() == "content"
    libraries = {path.name for path in rootfs._libraries([Path(sys.executable)])}
    assert any(name.startswith("libc.") for name in libraries)


def test_only_what_the_dockerfile_copies_is_sent() -> None:
    listed = {line.removeprefix("!") for line in (ROOT / ".dockerignore").read_text().splitlines() if line[:1] == "!"}
    dockerfile = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    copies = [
        line.split()[1:-1] for line in dockerfile.splitlines() if line.startswith("COPY ") and "--from" not in line
    ]
    copied = {source for sources in copies for source in sources}
    assert {
        next(name for name in listed if source == name or source.startswith(f"{name}/")) for source in copied
    } == listed


def test_the_dockerfile_is_clean(tmp_path: Path) -> None:
    hadolint = Path(sys.executable).with_name("hadolint")
    done = subprocess.run([str(hadolint), str(ROOT / "Dockerfile")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    broken = tmp_path / "Dockerfile"
    broken.write_text("FROM debian\nRUN cd /x\n")
    assert subprocess.run([str(hadolint), str(broken)], capture_output=True, check=False).returncode == 1
