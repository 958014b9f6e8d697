"""The distribution's metadata, and what the repository says of itself and of its surroundings."""

import re
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
FOLDERS = (
    "app",
    "benchmarks",
    "deploy",
    "docs",
    "examples",
    "fedl_sim",
    "fedsift_launcher",
    "sampler",
    "solver",
    "tests",
)
# What a benchmark asks `benchmarks.machine` for.
DESCRIBED = re.compile(r"\bdescribe\(([^)]*)\)")
TEXTS = (".cff", ".md", ".mk", ".py", ".sh", ".toml", ".yaml")


def texts() -> list[Path]:
    """The source and text files of the repository; results of experiments name the version that made them."""
    found = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.suffix in TEXTS]
    found += [path for path in ROOT.iterdir() if path.suffix in TEXTS or path.name in {"Dockerfile", "Makefile"}]
    return [path for path in found if "results" not in path.parts]


def test_one_file_names_the_version() -> None:
    # Documents on what changed from one version to the next name both.
    history = {ROOT / "CHANGELOG.md", ROOT / "docs" / "deployment.md", *(ROOT / "docs" / "adr").glob("*.md")}
    number = re.compile(rf"(?<![\d.]){re.escape(PROJECT['version'])}(?![\d.])")
    found = [path for path in texts() if number.search(path.read_text(encoding="utf-8")) and path not in history]
    # Manifests name images by version; tests/deploy/test_limits.py holds them to the one in pyproject.toml.
    manifests = [ROOT / "deploy" / name for name in ("compose.yaml", "kubernetes/base/kustomization.yaml")]
    assert set(found) == {ROOT / "pyproject.toml", *manifests}
    assert PROJECT["version"] == version("fedsift")


def test_nothing_names_a_folder_beside_the_repository() -> None:
    beside = "/".join(("..", "shared"))
    assert len(texts()) > 300
    assert [path for path in texts() if beside in path.read_text(encoding="utf-8")] == []


def test_the_citation_fits_the_project() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["title"].startswith(PROJECT["name"])
    assert citation["license"] == PROJECT["license"]
    assert citation["repository-code"] == PROJECT["urls"]["Source"]
    assert [author["name"] for author in citation["authors"]] == [author["name"] for author in PROJECT["authors"]]


@pytest.mark.parametrize("heavy", ["cvxpy", "fastapi", "joblib", "matplotlib", "psycopg", "scikit-learn", "torch"])
def test_the_base_is_light(heavy: str) -> None:
    assert not any(line.startswith(heavy) for line in PROJECT["dependencies"])


def test_images_of_the_readme_are_shown_elsewhere_too() -> None:
    """A package index shows the README without the repository's files."""
    lines = (ROOT / PROJECT["readme"]).read_text(encoding="utf-8").splitlines()
    places = [part.partition(")")[0] for line in lines for part in line.split("](")[1:] if "![" in line]
    assert places
    for place in places:
        path = place.removeprefix("https://raw.githubusercontent.com/fedsift/fedsift/main/")
        assert path != place
        assert (ROOT / path).is_file()


def test_the_versions_that_benchmarks_print_are_of_distributions() -> None:
    """Some distributions have another name than the package that they bring: cvxpy-base brings cvxpy."""
    calls = [call for path in (ROOT / "benchmarks").rglob("*.py") for call in DESCRIBED.findall(path.read_text())]
    named = {name for call in calls for name in re.findall(r"[\"']([\w-]+)[\"']", call)}
    assert len(named) > 5
    assert all(version(name) for name in named)
