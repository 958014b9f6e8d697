"""The table of schemes: what each name stands for, how often it draws, and who may ask for it."""

import re
from pathlib import Path

import pytest

from sampler import DEFAULT_SAMPLER, UnknownSchemeError
from sampler.rivals.model_based import RIVALS
from sampler.schemes import DRAWS, SCHEMES, Scheme, find_scheme, scheme_names
from solver.errors import InvalidInputError

ROOT = Path(__file__).parents[2]


def test_smart_is_the_papers_method_and_ours_is_ours() -> None:
    assert find_scheme("smart") == Scheme("smart", "gcn_branch")
    assert find_scheme("smart-offload") == Scheme("smart-offload", "gcn_branch", "fast")
    assert find_scheme("ours") == Scheme("ours", DEFAULT_SAMPLER)
    assert find_scheme("ours-offload") == Scheme("ours-offload", DEFAULT_SAMPLER, "fast")
    assert find_scheme("heuristic-offload") == Scheme("heuristic-offload", "heuristic", "greedy")
    assert find_scheme("all") == Scheme("all", "all")


def test_sampler_and_method_can_be_named() -> None:
    assert find_scheme("heuristic+fast") == Scheme("heuristic+fast", "heuristic", "fast")
    assert find_scheme("random+greedy").draws == 5
    assert find_scheme("greedy").offloading == "none"
    assert find_scheme("local_search:surrogate+fast") == Scheme(
        "local_search:surrogate+fast", "local_search:surrogate", "fast"
    )
    assert find_scheme("gcn_branch+fast").sampler == "gcn_branch"
    assert find_scheme("divfl+fast").sampler == "divfl"
    assert find_scheme("greedy+cvxpy").offloading == "cvxpy"


@pytest.mark.parametrize("served", [True, False])
@pytest.mark.parametrize(
    "name", ["oracle", "greedy+magic", "greedy+", "+fast", "all+fast", "", "greedy:luck", "random:coverage+fast"]
)
def test_unknown_schemes_are_refused(name: str, *, served: bool) -> None:
    with pytest.raises(UnknownSchemeError, match="unknown .*; known: smart, random, .*ours-offload, all; SAMPLER or"):
        find_scheme(name, served=served)


@pytest.mark.parametrize(
    "name", ["random_branch", "gcn_branch_fedl+fast", "greedy:resemblance", "greedy+cvxpy", *RIVALS]
)
def test_what_is_for_studies_is_not_served(name: str) -> None:
    assert find_scheme(name).name == name
    with pytest.raises(UnknownSchemeError) as caught:
        find_scheme(name, served=True)
    served = "SAMPLER one of exhaustive, gcn_branch, gcn_rank, greedy, heuristic, local_search, random, METHOD"
    assert served in caught.value.known
    assert caught.value.known.endswith("METHOD one of fast, random, greedy, none")


@pytest.mark.parametrize("name", [*SCHEMES, "local_search:coverage", "exhaustive:surrogate+none", "gcn_rank+random"])
def test_the_table_and_the_offered_samplers_are_served(name: str) -> None:
    assert find_scheme(name, served=True) == find_scheme(name)


@pytest.mark.parametrize(
    ("name", "drawn"),
    [
        ("random", True),
        ("random-offload", True),
        ("random+fast", True),
        ("random_branch", True),
        ("random_branch+fast", True),
        ("smart", False),
        ("ours-offload", False),
        ("greedy+random", False),
        ("all", False),
    ],
)
def test_schemes_that_draw_at_random_are_averaged_over_draws(name: str, *, drawn: bool) -> None:
    assert find_scheme(name).draws == (DRAWS if drawn else 1)
    assert find_scheme(name, draws=3).draws == (3 if drawn else 1)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"offloading": "magic"}, "offloading"),
        ({"sampler": "all", "offloading": "fast"}, "offloading"),
        ({"draws": 0}, "draws"),
    ],
)
def test_a_scheme_checks_itself(changes: dict[str, object], field: str) -> None:
    values: dict[str, object] = {"name": "x", "sampler": "greedy", **changes}
    with pytest.raises(InvalidInputError) as caught:
        Scheme(**values)  # type: ignore[arg-type]
    assert caught.value.field == field


def test_the_studio_offers_the_table() -> None:
    text = (ROOT / "app" / "studio" / "static" / "core" / "experiments.js").read_text(encoding="utf-8")
    offered = re.findall(r'^  \["([^"]+)", "', text, flags=re.MULTILINE)
    assert sorted(offered) == sorted(scheme_names())


def test_the_simulators_document_has_the_table() -> None:
    text = (ROOT / "docs" / "simulator.md").read_text(encoding="utf-8")
    _, _, section = text.partition("## Schemes\n")
    table = section.partition("\n\nThe table ")[0]
    first = "".join(re.findall(r"^\| (`.*?) \|", table, flags=re.MULTILINE))
    assert sorted(re.findall(r"`([^`]+)`", first)) == sorted(scheme_names())
