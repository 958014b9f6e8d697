"""Find a container engine, and build and run fedsift's images with it.

    python engine.py build        builds both targets
    python engine.py multiarch    builds both for amd64 and arm64, as manifest lists NAME:VERSION-TARGET-multiarch
    python engine.py pin          pulls the base image and writes its digest to base.digest, from where builds read it
    python engine.py command      prints the engine's command with its options, for use by hand

The engine is docker if its daemon answers, else podman, or buildah with podman. Environment variables:

    FEDSIFT_IMAGE             name of the images, default localhost/fedsift
    FEDSIFT_IMAGE_STORE       folder for images and containers, for root on a machine where no engine is set up
    FEDSIFT_BASE_IMAGE_TOOL   program that makes the base image where no registry is reached; its arguments are the
                              store's folder and the image's name
    BASE_IMAGE                image with Python, default docker.io/library/python:3.11.14-slim-bookworm, by the digest
                              in base.digest if that file is there
    PIP_INDEX_URL, PIP_EXTRA_INDEX_URL, PIP_FIND_LINKS    as for pip
"""

import json
import os
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Engine", "find_engine"]

SOURCES = Path(__file__).parents[2]
TARGETS = ("serve", "worker")
NAME = os.environ.get("FEDSIFT_IMAGE", "localhost/fedsift")
TAGGED_BASE = "docker.io/library/python:3.11.14-slim-bookworm"
DIGEST = Path(__file__).parent / "base.digest"
PLATFORMS = ("linux/amd64", "linux/arm64")
BASE_TOOL = os.environ.get("FEDSIFT_BASE_IMAGE_TOOL", "")
# A base image that is made here has no digest that anyone else knows.
_PINNED = (
    f"{TAGGED_BASE}@{DIGEST.read_text(encoding='ascii').strip()}" if DIGEST.exists() and not BASE_TOOL else TAGGED_BASE
)
BASE = os.environ.get("BASE_IMAGE", _PINNED)
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
        # Manifests name the version, so that what runs changes with them only.
        tags = ("--tag", f"{NAME}:{target}", "--tag", f"{NAME}:{_version()}-{target}")
        subprocess.run(  # noqa: S603
            [*self.builder, *self.build_options, *_arguments(), *tags, "--target", target, "."],
            cwd=SOURCES,
            check=True,
        )

    def build_all_platforms(self, target: str) -> None:
        """Build a manifest list with an image for every platform; foreign ones need QEMU's emulation (binfmt)."""
        if BASE_TOOL:
            raise SystemExit("FEDSIFT_BASE_IMAGE_TOOL makes a base image of this platform alone; unset it")
        # A name of its own: that of an image cannot become the name of a list.
        manifest = f"{NAME}:{_version()}-{target}-multiarch"
        platforms = ("--platform", ",".join(PLATFORMS), "--manifest", manifest)
        # The base image is pulled for each platform.
        options = tuple(one for one in self.build_options if not one.startswith("--pull"))
        if self.builder[0] == "docker":
            platforms = ("--platform", ",".join(PLATFORMS), "--tag", manifest)
        else:
            subprocess.run([*self.runner, "manifest", "rm", manifest], capture_output=True, check=False)  # noqa: S603
        command = [*self.builder, *options, *_arguments(), *platforms, "--target", target, "."]
        subprocess.run(command, cwd=SOURCES, check=True)  # noqa: S603
        # The name of the base image is now that of the last platform's: other builds need this machine's.
        subprocess.run([*self.runner, "pull", "--quiet", BASE], check=True)  # noqa: S603

    def pin_base(self) -> None:
        """Write down which image the tag names today: the list of all platforms, not one platform's part of it.

        Engines show the digests of both, in any order. That of the list is the one that all platforms have.
        """
        found = []
        for platform in PLATFORMS:
            subprocess.run([*self.runner, "pull", "--quiet", "--platform", platform, TAGGED_BASE], check=True)  # noqa: S603
            command = [*self.runner, "image", "inspect", "--format", "{{json .RepoDigests}}", TAGGED_BASE]
            shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout  # noqa: S603
            found.append({one.rpartition("@")[2] for one in json.loads(shown)})
        subprocess.run([*self.runner, "pull", "--quiet", TAGGED_BASE], check=True)  # noqa: S603 - this machine's again
        common = set.intersection(*found)
        if len(common) != 1:
            raise SystemExit(
                f"{TAGGED_BASE} has {len(common)} digests in common for all platforms: remove it, try again"
            )
        DIGEST.write_text(common.pop() + "\n", encoding="ascii")

    def has(self, image: str) -> bool:
        """Whether the image is there."""
        command = [*self.runner, "image", "inspect", image]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0  # noqa: S603

    def fetch_base(self) -> None:
        """Make sure that the base image is there: pull it, or make it with the tool named for that."""
        if self.has(BASE):
            return
        pulled = subprocess.run([*self.runner, "pull", "--quiet", BASE], check=False)  # noqa: S603
        if pulled.returncode == 0:
            return
        if self.store is None or not BASE_TOOL:
            raise SystemExit(f"{BASE} cannot be pulled; FEDSIFT_BASE_IMAGE_TOOL with FEDSIFT_IMAGE_STORE can make it")
        subprocess.run([BASE_TOOL, str(self.store), BASE], check=True)  # noqa: S603


def find_engine() -> Engine | None:
    """The first engine that works here, or None."""
    if _answers("docker", "info"):
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
    """The options that pass the Dockerfile its build arguments."""
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
        # The build sees this machine's folder of wheels under the same path.
        arguments += ["--volume", f"{links}:{links}:ro"]
    return arguments


def _git(*command: str) -> str:
    """The output of a git command in the sources; empty if they are not a clone."""
    done = subprocess.run(["git", *command], cwd=SOURCES, capture_output=True, text=True, check=False)  # noqa: S603, S607
    return done.stdout.strip()


def _version() -> str:
    document = tomllib.loads((SOURCES / "pyproject.toml").read_text(encoding="utf-8"))
    return str(document["project"]["version"])


if __name__ == "__main__":
    engine = find_engine()
    if engine is None:
        raise SystemExit(
            "no container engine works here: start docker, or install podman; as root without either set up, install "
            "podman, buildah and runc and set FEDSIFT_IMAGE_STORE to a folder for images"
        )
    task = sys.argv[1:]
    if task == ["command"]:
        sys.stdout.write(" ".join(engine.runner) + "\n")
    elif task == ["pin"]:
        engine.pin_base()
    elif task == ["build"]:
        engine.fetch_base()
        for one in TARGETS:
            engine.build(one)
    elif task == ["multiarch"]:
        for one in TARGETS:
            engine.build_all_platforms(one)
    else:
        raise SystemExit(__doc__)
