"""Copy what an environment needs to run into an empty root: `python rootfs.py ENVIRONMENT ROOT`.

This is the environment, its interpreter with the standard library, the system's shared libraries that they load,
certificates, and the package manager's records of the copied packages, where scanners look for them. The root has no
shell, no package manager and no compiler.
"""

import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

# Parts of the standard library for development and desktops.
_UNUSED = frozenset(
    ("ensurepip", "idlelib", "lib2to3", "pydoc_data", "test", "tkinter", "turtledemo", "turtle.py", "venv")
)
_LEFT_OUT = ("__pycache__", "site-packages", "dist-packages", "config-*", "*.a")
# Extension modules for terminals, old databases and tests: each of them needs more libraries.
_EXTENSIONS = ("_ctypes_test*", "_curses*", "_dbm*", "_gdbm*", "_test*", "_tkinter*", "_xxtest*", "nis*", "readline*")
_FILES = (
    "/etc/group",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/nsswitch.conf",
    "/etc/os-release",
    "/etc/passwd",
    "/etc/ssl/certs/ca-certificates.crt",
    "/usr/lib/os-release",
    "/usr/share/doc/ca-certificates/copyright",
)
_ELF = b"\x7fELF"


def make_root(environment: Path, root: Path) -> None:
    """Fill the root."""
    stdlib = Path(sysconfig.get_path("stdlib"))
    interpreter = environment / "bin" / "python"
    shutil.copytree(environment, _below(root, environment), symlinks=True)
    shutil.copytree(stdlib, _below(root, stdlib), symlinks=True, ignore=_ignored)
    libraries = set(_libraries([interpreter, *environment.rglob("*"), *_below(root, stdlib).rglob("*")]))
    for path in [interpreter, *libraries, *map(Path, _FILES)]:
        if path.exists():
            _copy(path, root)
    _record(libraries | {interpreter.resolve(), stdlib / "os.py"}, root)
    (root / "tmp").mkdir(mode=0o1777)
    (root / "tmp").chmod(0o1777)
    (root / "data").mkdir()
    # A container runs as any user, but always in group 0: the group has the owner's permissions.
    (root / "data").chmod(0o2775)


def _below(root: Path, path: Path) -> Path:
    return root / path.relative_to("/")


def _ignored(folder: str, names: list[str]) -> set[str]:
    found = set(shutil.ignore_patterns(*_LEFT_OUT)(folder, names)) | (_UNUSED & set(names))
    if Path(folder).name == "lib-dynload":
        found |= set(shutil.ignore_patterns(*_EXTENSIONS)(folder, names))
    return found


def _libraries(paths: list[Path]) -> Iterator[Path]:
    """The shared libraries that these files load, as the dynamic loader finds them."""
    for path in paths:
        if path.is_file() and not (path.is_symlink() and path.name != "python"):
            with path.open("rb") as file:
                if file.read(4) != _ELF:
                    continue
            # A library that ldd does not find is part of the wheel, which loads it itself.
            done = subprocess.run(["ldd", str(path)], capture_output=True, text=True, check=False)  # noqa: S603, S607
            for word in done.stdout.split():
                if word.startswith("/") and not word.endswith(":"):
                    yield Path(word)


def _copy(path: Path, root: Path) -> None:
    """Copy a file or a folder; a symbolic link, in the file's name or on the way to it, stays one."""
    place = Path("/")
    for part in path.parts[1:]:
        place /= part
        target = _below(root, place)
        if place.is_symlink():
            target.parent.mkdir(parents=True, exist_ok=True)
            if not target.is_symlink():
                target.symlink_to(place.readlink())
            _copy(place.parent / place.readlink() / path.relative_to(place), root)
            return
    if target.exists():
        return
    if path.is_dir():
        shutil.copytree(path, target, symlinks=True)
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, target)


def _record(paths: set[Path], root: Path) -> None:
    """Record the distribution's packages that the files came from, with their licences."""
    records = root / "var" / "lib" / "dpkg" / "status.d"
    records.mkdir(parents=True)
    for path in paths:
        for name in {str(path), str(path).removeprefix("/usr"), f"/usr{path}"}:
            found = _output("dpkg-query", "-S", name).partition(":")[0]
            if found and not (records / found).exists():
                (records / found).write_text(_output("dpkg-query", "-s", found), encoding="utf-8")
                _copy(Path("/usr/share/doc") / found / "copyright", root)


def _output(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    return done.stdout if done.returncode == 0 else ""


if __name__ == "__main__":
    make_root(Path(sys.argv[1]), Path(sys.argv[2]))
