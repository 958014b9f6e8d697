"""Remove from an environment what running the service never reads: `python slim.py ENVIRONMENT`.

These are test suites, headers, type stubs, debugging symbols, and parts of packages that nothing here imports. The
libraries that wheels bring along (`*.libs`) keep their symbols: their loader tables were rewritten when the wheel was
made, and strip breaks them.
"""

import shutil
import subprocess
import sys
from pathlib import Path

_FOLDERS = ("__pycache__", "include", "test", "tests")
_SUFFIXES = (".a", ".c", ".cmake", ".cpp", ".cu", ".cuh", ".h", ".hpp", ".pxd", ".pyi", ".pyx")
_PARTS = (
    "numba/cuda",
    "numpy/distutils",
    *(f"scipy/{name}" for name in ("cluster", "datasets", "io", "odr", "signal")),
)


def slim(environment: Path) -> None:
    """Remove them."""
    (packages,) = environment.glob("lib/python3.*/site-packages")
    for part in _PARTS:
        shutil.rmtree(packages / part)
    for name in _FOLDERS:
        for folder in [path for path in packages.rglob(name) if path.is_dir()]:
            shutil.rmtree(folder, ignore_errors=True)  # one may lie within another
    for path in [path for path in packages.rglob("*") if path.suffix in _SUFFIXES and path.is_file()]:
        path.unlink()
    libraries = [path for path in packages.rglob("*.so*") if path.is_file() and not path.is_symlink()]
    own = [path for path in libraries if not any(part.endswith(".libs") for part in path.parts)]
    subprocess.run(["strip", "--strip-unneeded", *map(str, own)], check=True)  # noqa: S603, S607


if __name__ == "__main__":
    slim(Path(sys.argv[1]))
