"""What makes a release: the version in every place at once, and archives that are the same bytes twice."""

import importlib.util
import os
import shutil
import tarfile
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "deploy" / "dist" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_new_version_is_everywhere_at_once(tmp_path: Path) -> None:
    bump = script("bump")
    for name in [*bump.PLACES, "CHANGELOG.md"]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    old = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    bump.bump(tmp_path, "9.8.7")
    for name in bump.PLACES:
        text = (tmp_path / name).read_text(encoding="utf-8")
        assert text.count("9.8.7") == (ROOT / name).read_text(encoding="utf-8").count(old) > 0, name
        assert old not in text
    assert "## [Unreleased]\n\n## [9.8.7] - " in (tmp_path / "CHANGELOG.md").read_text(encoding="utf-8")
    with pytest.raises(SystemExit, match="no version"):
        bump.bump(tmp_path, "next")


def test_archives_are_the_same_bytes_whoever_made_their_files_and_when(tmp_path: Path) -> None:
    release = script("release")
    made: list[Path] = []
    for place, order in (("one", "ab"), ("other", "ba")):
        sources = tmp_path / place
        (sources / "docs").mkdir(parents=True)
        for name in order:
            (sources / "docs" / name).write_text(name)
            os.utime(sources / "docs" / name, (len(made), len(made)))
            (sources / "docs" / name).chmod(0o600 if made else 0o664)
        made.append(tmp_path / f"{place}.tar.gz")
        release.pack(sources, ("docs",), made[-1])
    assert made[0].read_bytes() == made[1].read_bytes()
    with tarfile.open(made[0]) as archive:
        assert archive.getnames() == ["docs/a", "docs/b"]


def test_sums_are_of_all_files(tmp_path: Path) -> None:
    (tmp_path / "b").write_text("b")
    (tmp_path / "a").write_text("")
    script("release").write_sums(tmp_path)
    lines = (tmp_path / "SHA256SUMS").read_text().splitlines()
    assert lines[0] == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  a"
    assert [line.split()[1] for line in lines] == ["a", "b"]
