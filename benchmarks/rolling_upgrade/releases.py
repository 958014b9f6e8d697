"""Two releases to upgrade between: images, or folders with sources.

Without another one to upgrade to, the next release is made here: the same code with one more migration, which only
adds to the schema.
"""

import os
import secrets
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Image", "Release", "Sources", "next_image", "next_sources"]

_ROOT = Path(__file__).parents[2]
_MIGRATION = "9999_next_release.add.sql"
_SCRIPT = "CREATE TABLE next_release (id TEXT PRIMARY KEY);\nALTER TABLE plans ADD COLUMN next_release TEXT;\n"
_IN_IMAGE = "/opt/fedsift/lib/python3.11/site-packages/app/store/migrations/"


@dataclass(frozen=True)
class Sources:
    """Folders with the packages, the first with a package counts; run by this interpreter."""

    folders: tuple[Path, ...]

    def start(self, words: list[str], log: Path, **settings: str) -> "subprocess.Popen[bytes]":
        """Start `fedsift` with these words."""
        variables = {f"FEDSIFT_{name.upper()}": value for name, value in settings.items()}
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, self.folders)), **variables}
        command = [sys.executable, "-P", "-c", "from app.cli import main; main()", *words]
        with log.open("ab") as stream:
            return subprocess.Popen(command, env=environment, stdout=stream, stderr=stream, cwd=log.parent)

    def __str__(self) -> str:
        """For the report."""
        return self.folders[0].name


@dataclass(frozen=True)
class Image:
    """Two images, NAME:serve and NAME:worker, run by a container engine with a read-only root."""

    name: str
    runner: tuple[str, ...]
    options: tuple[str, ...]
    folders: tuple[Path, ...]

    def start(self, words: list[str], log: Path, **settings: str) -> "subprocess.Popen[bytes]":
        """Run a container in the foreground: a signal to the engine's process goes on to it."""
        # As the owner of the database: without capabilities nobody else may open it.
        owner = self.folders[0].stat().st_uid
        strict = ["--rm", "--read-only", "--cap-drop=all", f"--user={owner}:0", "--tmpfs=/tmp"]
        given = [f"--env=FEDSIFT_{name.upper()}={value}" for name, value in settings.items()]
        given += [f"--volume={folder}:{folder}" for folder in self.folders]
        container = f"--name=fedsift-upgrade-{secrets.token_hex(4)}"
        command = [*self.runner, "run", container, *self.options, *strict, *given, f"{self.name}:{words[0]}", *words]
        with log.open("ab") as stream:
            return subprocess.Popen(command, stdout=stream, stderr=stream)

    def __str__(self) -> str:
        """For the report: the name, and the commit by the image's label."""
        label = '{{index .Config.Labels "org.opencontainers.image.revision"}}'
        command = [*self.runner, "image", "inspect", "--format", label, f"{self.name}:serve"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return f"{self.name} of commit {done.stdout.strip()[:7] or 'unknown'}"


Release = Image | Sources


@contextmanager
def next_sources(old: Sources, folder: Path) -> Iterator[Sources]:
    """The next release of these sources."""
    made = folder / "next"
    shutil.copytree(old.folders[0] / "app", made / "app")
    (made / "app" / "store" / "migrations" / _MIGRATION).write_text(_SCRIPT, encoding="utf-8")
    # The other packages stay where they are: a copy would compile its kernels again.
    yield Sources((made, *old.folders))


@contextmanager
def next_image(old: Image, builder: tuple[str, ...], folder: Path, targets: tuple[str, ...]) -> Iterator[Image]:
    """The next release of these images."""
    (folder / _MIGRATION).write_text(_SCRIPT, encoding="utf-8")
    name = f"{old.name}-next"
    for target in targets:
        lines = [
            f"FROM {old.name}:{target}",
            f"COPY {_MIGRATION} {_IN_IMAGE}",
            "LABEL org.opencontainers.image.version=next",
        ]
        (folder / "Dockerfile").write_text("\n".join(lines) + "\n", encoding="utf-8")
        subprocess.run([*builder, "--tag", f"{name}:{target}", str(folder)], check=True, stdout=subprocess.DEVNULL)
    yield Image(name, old.runner, old.options, old.folders)
