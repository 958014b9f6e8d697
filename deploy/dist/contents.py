"""Check what the wheel and the sdist contain: `python contents.py DIST`.

The wheel has every file of the five packages that git tracks, the guide that `make docs` builds, and nothing else. The
sdist has the same packages, and neither of them has tests.
"""

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path, PurePosixPath

PACKAGES = ("app", "fedl_sim", "fedsift_launcher", "sampler", "solver")
SOURCES = Path(__file__).parents[2]
BUILT = {"app/guide/site.zip"}


def faults(packaged: set[str], tracked: set[str]) -> list[str]:
    """How the files of a distribution differ from those that git tracks in the packages."""
    found = [f"{name} is missing" for name in sorted(tracked - packaged)]
    return found + [f"{name} is not in git" for name in sorted(packaged - tracked)]


def of_packages(names: list[str]) -> set[str]:
    """Those of these files that lie in one of the packages."""
    return {name for name in names if PurePosixPath(name).parts[0] in PACKAGES}


def wheel_names(wheel: Path) -> list[str]:
    """The wheel's files without its metadata."""
    with zipfile.ZipFile(wheel) as archive:
        return [name for name in archive.namelist() if ".dist-info/" not in name]


def sdist_names(sdist: Path) -> list[str]:
    """The sdist's files, relative to its one folder."""
    with tarfile.open(sdist) as archive:
        return [name.partition("/")[2] for name in archive.getnames()]


def main(folder: Path) -> None:
    """Exit with the list of faults, or say that there is none."""
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    listed = subprocess.run(["git", "ls-files", *PACKAGES], cwd=SOURCES, capture_output=True, text=True, check=True)  # noqa: S603, S607
    tracked = set(listed.stdout.splitlines()) | BUILT
    inside = wheel_names(wheel)
    found = [f"wheel: {name} is in no package" for name in sorted(set(inside) - of_packages(inside))]
    found += [f"wheel: {fault}" for fault in faults(of_packages(inside), tracked)]
    found += [f"sdist: {fault}" for fault in faults(of_packages(sdist_names(sdist)), tracked)]
    found += [f"sdist: {name} is a test" for name in sdist_names(sdist) if name.startswith("tests/")]
    if found:
        raise SystemExit("\n".join(found))
    sys.stdout.write(f"{wheel.name} and {sdist.name}: {len(tracked)} files of {len(PACKAGES)} packages each\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
