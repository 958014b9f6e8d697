"""The container engine that is there, and how to build and run fedsift's images with it.

    python engine.py build        builds both targets
    python engine.py command      prints the engine's command with its options, for use by hand

docker is taken if its engine answers, else podman or buildah with podman. Settings: FEDSIFT_IMAGE (name, default
localhost/fedsift), FEDSIFT_IMAGE_STORE (a folder for images and containers instead of the engine's own; used as root
where there is no engine set up), BASE_IMAGE, and pip's PIP_INDEX_URL, PIP_EXTRA_INDEX_URL, PIP_FIND_LINKS.
"""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Engine", "find_engine"]

SOURCES = Path(__file__).parents[2]
TARGETS = ("serve", "worker")
NAME = os.environ.get("FEDSIFT_IMAGE", "localhost/fedsift")
BASE = os.environ.get("BASE_IMAGE", "docker.io/library/python:3.11-slim")
# For machines that reach no registry: makes a base of the same name from the distribution's packages.
STAND_IN = SOURCES.parent / "shared" / "tools" / "base-image"
_PIP = ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS")


@dataclass(frozen=True)
class Engine:
    """How to build an image, and how to do everything else."""

    builder: tuple[str, ...]
    build_options: tuple[str, ...]
    runner: tuple[str, ...]
    run_options: tuple[str, ...]
    store: Path | None

    def build(self, target: str) -> None:
        """Build one of the targets from the sources."""
        subprocess.run(  # noqa: S603
            [*self.builder, *self.build_options, *_arguments(), "--tag", f"{NAME}:{target}", "--target", target, "."],
            cwd=SOURCES,
            check=True,
        )

    def has(self, image: str) -> bool:
        """Whether the image is there."""
        command = [*self.runner, "image", "inspect", image]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0  # noqa: S603

    def fetch_base(self) -> None:
        """See to it that the base image is there: pulled, or stood in for."""
        if self.has(BASE):
            return
        pulled = subprocess.run([*self.runner, "pull", "--quiet", BASE], check=False)  # noqa: S603
        if pulled.returncode == 0:
            return
        if self.store is None or not STAND_IN.exists():
            raise SystemExit(f"{BASE} can be had from no registry, and nothing here stands in for it")
        subprocess.run([str(STAND_IN), str(self.store), BASE], check=True)  # noqa: S603


def find_engine() -> Engine | None:
    """The first engine that works here, or None."""
    if _answers("docker", "info"):
        # The builder named here is the one that knows RUN in an empty image and builds for other platforms.
        return Engine(("docker", "build"), ("--pull=false",), ("docker",), (), None)
    if not shutil.which("podman"):
        return None
    named = os.environ.get("FEDSIFT_IMAGE_STORE")
    if not named:
        build = ("--format", "docker", "--pull=never", "--layers")
        return Engine(("podman", "build"), build, ("podman",), ("--pull=never",), None)
    store = Path(named).resolve()
    place = ("--root", f"{store}/store", "--runroot", f"{store}/run", "--storage-driver", "overlay")
    runner = ("podman", *place, "--runtime", "runc", "--cgroup-manager", "cgroupfs")
    limits = ("--ulimit", "nofile=4096:4096", "--ulimit", "nproc=4096:4096")
    options = ("--isolation", "chroot", "--pull-never", "--format", "docker", "--layers")
    if shutil.which("buildah"):
        return Engine(("buildah", *place, "bud"), options, runner, ("--pull=never", "--network=host", *limits), store)
    return None


def _answers(*command: str) -> bool:
    if not shutil.which(command[0]):
        return False
    return subprocess.run(command, capture_output=True, check=False).returncode == 0  # noqa: S603


def _arguments() -> list[str]:
    """What the Dockerfile takes from outside."""
    given = {
        "BASE_IMAGE": BASE,
        # The commit's own time: the same commit makes the same labels.
        "CREATED": _git("log", "-1", "--format=%cI"),
        "REVISION": _git("rev-parse", "HEAD"),
        "VERSION": _version(),
        **{name: os.environ[name] for name in _PIP if name in os.environ},
    }
    arguments = [word for name, value in given.items() for word in ("--build-arg", f"{name}={value}")]
    links = Path(os.environ.get("PIP_FIND_LINKS", ""))
    if links.is_absolute() and links.is_dir() and not _answers("docker", "info"):
        # A folder of wheels on this machine is seen by the build under the same name.
        arguments += ["--volume", f"{links}:{links}:ro"]
    return arguments


def _git(*command: str) -> str:
    """What git says of the sources; nothing if they are not a clone."""
    done = subprocess.run(["git", *command], cwd=SOURCES, capture_output=True, text=True, check=False)  # noqa: S603, S607
    return done.stdout.strip()


def _version() -> str:
    for line in (SOURCES / "pyproject.toml").read_text(encoding="utf-8").splitlines():
        if line.startswith("version = "):
            return line.split('"')[1]
    raise SystemExit("pyproject.toml names no version")


if __name__ == "__main__":
    engine = find_engine()
    if engine is None:
        raise SystemExit(
            "no container engine works here: start docker, or install podman; as root without either set up, install "
            "podman, buildah and runc and set FEDSIFT_IMAGE_STORE to a folder for images"
        )
    if sys.argv[1:] == ["command"]:
        sys.stdout.write(" ".join(engine.runner) + "\n")
    elif sys.argv[1:] == ["build"]:
        engine.fetch_base()
        for one in TARGETS:
            engine.build(one)
    else:
        raise SystemExit(__doc__)
