"""Ours in short: what is not shown comes first, then the numbers, those that are shown in bold."""

import re
from pathlib import Path

from fedl_sim.reproduce.claims.catalogue import HIDDEN, OURS
from fedl_sim.reproduce.claims.contrasts import Effect
from fedl_sim.reproduce.claims.evaluation import evaluated
from fedl_sim.reproduce.claims.in_short import in_short
from tests.support.curves import write_curves

RESULTS = Path(__file__).parents[4] / "docs" / "results"
SURROGATE, OWN_LABEL = "the paper's method trained on the surrogate", "the paper's method trained on FedL's loss"


def finals(**ends: float) -> dict[str, dict[tuple[int, int], float]]:
    """Arms that end so on six seeds, which differ a little."""
    return {arm: {(s, 5): end + 0.001 * (s % 3) * end for s in range(6)} for arm, end in ends.items()}


def test_what_is_worse_and_what_has_not_run_comes_before_what_is_shown(tmp_path: Path) -> None:
    methods = {"gcn_branch+fast": 0.8, "gcn_branch_fedl+fast": 0.95, "random-offload": 0.9, "heuristic-offload": 0.7}
    write_curves(tmp_path, "accuracy-tight", finals(**{"ours-offload": 0.9, "all": 0.8}, **methods))
    text = in_short(evaluated(tmp_path))
    worse, not_run, not_shown, table = (
        text.index(words)
        for words in ("Ours is shown to be **worse**", "**not been run**", "Ours is **not shown**", "| rival |")
    )
    assert worse < not_run < not_shown < table
    assert f"Higher accuracy, paper's setting: {OWN_LABEL}.\n" in text[worse:not_run]
    assert "Higher accuracy, fair setting: " in text[not_run:not_shown]
    assert "Higher accuracy, paper's setting: random devices with random offloading.\n" in text[not_shown:table]
    rows = {line.split(" | ")[0].strip("| "): line for line in text[table:].splitlines() if line.startswith("| ")}
    assert "| **+10.0** [+10.0, +10.0] |" in rows[SURROGATE]
    assert "| -5.0 [-5.0, -5.0] |" in rows[OWN_LABEL]
    assert "too few" not in text


def test_the_committed_lists_and_bold_numbers_are_the_verdicts() -> None:
    found = evaluated(RESULTS)
    effects = [
        effect
        for claims in found.values()
        for claim, all_rivals in claims.items()
        for effect in all_rivals
        if effect.contrast.one in {OURS, HIDDEN}
        and not effect.contrast.data_set
        and not claim.name.startswith("chance")
    ]
    text = in_short(found)
    lists, table = text.split("**Ours against its rivals**")
    named = sum(line.count(";") + 1 for line in lists.splitlines() if line.startswith("- "))
    assert named == sum(effect.verdict != "shown" for effect in effects)
    bold = sorted(re.findall(r"\*\*(\S+)\*\* \[", table))
    assert bold == sorted(f"{e.mean:+.1f}" for e in effects if e.verdict == "shown" and in_the_table(e))
    assert len(re.findall(r"\d \[|\*\* \[", table)) == sum(map(in_the_table, effects))


def in_the_table(effect: Effect) -> bool:
    return effect.contrast.measure != "datapoints"
