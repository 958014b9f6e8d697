"""Build what a release consists of, from the last commit: `python release.py FOLDER [--images]`.

    python release.py FOLDER            builds into the folder, with SHA256SUMS
    python release.py FOLDER --images   also the images that `make image` made, as OCI archives
    python release.py FOLDER --sums     only writes SHA256SUMS again, when files were added
    python release.py --check           builds twice, in two places, and compares byte for byte

A release has the sdist and the wheel of the service and of its client, the bill of materials, the OpenAPI documents, the pins,
and two archives: the manifests and the documentation. All of it is made from `git archive HEAD` and dated by the commit, so the
same commit makes the same bytes. Archives of images are not the same bytes twice: they contain kernels and bytecode that
compilers wrote, and times of files of the base image.
"""

import argparse
import filecmp
import gzip
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
CYCLONEDX = ROOT / "build" / "supply" / "bin" / "cyclonedx-py"
MKDOCS = ROOT / "build" / "docs" / "bin" / "mkdocs"
COPIED = ("docs/openapi.json", "docs/openapi-3.0.json", "constraints.txt", "CHANGELOG.md")
MANIFESTS = ("README.md", "compose.yaml", "gateway", "grafana", "kubernetes", "prometheus")
ARCHIVES = {"manifests": tuple(f"deploy/{name}" for name in MANIFESTS), "docs": ("README.md", "docs")}


def run(*command: str | Path, folder: Path = ROOT) -> str:
    """Run a command; what it prints."""
    fixed = {
        "SOURCE_DATE_EPOCH": epoch(),
        "PYTHONHASHSEED": "0",
        "NO_MKDOCS_2_WARNING": "1",
        "PYTHONDONTWRITEBYTECODE": "1",  # bytecode of docs/site.py names the folder, and would be packed with the pages
    }
    environment = {**os.environ, **fixed}
    done = subprocess.run(list(command), cwd=folder, env=environment, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))} failed:\n{done.stdout}{done.stderr}")
    return done.stdout.strip()


def epoch() -> str:
    """When the commit was made."""
    command = ["git", "log", "-1", "--format=%ct"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()  # noqa: S603


def build(folder: Path) -> None:
    """Make all files of the release, but for the images."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as name:
        sources = Path(name) / "sources"
        sources.mkdir()
        archive = Path(name) / "head.tar"
        run("git", "archive", "--output", archive, "HEAD")
        with tarfile.open(archive) as opened:
            opened.extractall(sources, filter="data")
        run(MKDOCS, "build", "--strict", folder=sources)  # the guide that the service serves
        for project in (sources, sources / "clients" / "python"):
            run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, project)
        version = version_of(sources)
        for one in COPIED:
            shutil.copyfile(sources / one, folder / Path(one).name)
        for kind, parts in ARCHIVES.items():
            pack(sources, parts, folder / f"fedsift-{version}-{kind}.tar.gz")
        pins = ("constraints.txt", "--pyproject", "pyproject.toml", "--output-reproducible")
        run(CYCLONEDX, "requirements", *pins, "--output-file", folder / "sbom.cdx.json", folder=sources)
    write_sums(folder)


def version_of(sources: Path) -> str:
    """The version that pyproject.toml names."""
    return str(tomllib.loads((sources / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"])


def pack(sources: Path, parts: tuple[str, ...], target: Path) -> None:
    """A compressed archive without anything of this machine: sorted, one date, no owner."""

    def plain(entry: tarfile.TarInfo) -> tarfile.TarInfo:
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = ""
        entry.mtime = int(epoch())
        entry.mode = 0o755 if entry.mode & 0o100 else 0o644
        return entry

    with (
        target.open("wb") as raw,
        gzip.GzipFile("", "wb", fileobj=raw, mtime=int(epoch())) as packed,
        tarfile.open(fileobj=packed, mode="w") as archive,
    ):
        found = {file for part in parts for file in [sources / part, *(sources / part).rglob("*")] if file.is_file()}
        for file in sorted(found):
            archive.add(file, str(file.relative_to(sources)), filter=plain)


def save_images(folder: Path) -> None:
    """The images as OCI archives, which an edge site without a registry imports."""
    sys.path.insert(0, str(ROOT / "deploy" / "image"))
    from engine import NAME, TARGETS, find_engine  # noqa: PLC0415

    engine = find_engine()
    if engine is None:
        raise SystemExit("no container engine works here")
    version = version_of(ROOT)
    for target in TARGETS:
        archive = folder / f"fedsift-{version}-{target}.oci.tar"
        archive.unlink(missing_ok=True)
        run(*engine.runner, "save", "--format", "oci-archive", "--output", archive, f"{NAME}:{version}-{target}")
    write_sums(folder)


def write_sums(folder: Path) -> None:
    """SHA256SUMS, as `sha256sum --check` reads it."""
    files = sorted(file for file in folder.iterdir() if file.name != "SHA256SUMS")
    lines = [f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in files]
    (folder / "SHA256SUMS").write_text("".join(lines), encoding="utf-8")


def check() -> None:
    """Build twice, and compare."""
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        folders = [Path(one) / "a", Path(other) / "b" / "c"]
        for folder in folders:
            build(folder)
        names = [sorted(file.name for file in folder.iterdir()) for folder in folders]
        if names[0] != names[1]:
            raise SystemExit(f"two builds have different files: {names}")
        _, different, unread = filecmp.cmpfiles(folders[0], folders[1], names[0], shallow=False)
        if different or unread:
            raise SystemExit(f"two builds differ: {different + unread}")
        sys.stdout.write((folders[0] / "SHA256SUMS").read_text(encoding="utf-8"))
        sys.stdout.write(f"{len(names[0])} files are the same bytes in both builds\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--images", action="store_true")
    parser.add_argument("--sums", action="store_true")
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    if given.check:
        check()
    elif given.folder is None:
        parser.error("name a folder")
    elif given.sums:
        write_sums(given.folder)
    else:
        build(given.folder.resolve())
        if given.images:
            save_images(given.folder.resolve())
        sys.stdout.write((given.folder / "SHA256SUMS").read_text(encoding="utf-8"))
