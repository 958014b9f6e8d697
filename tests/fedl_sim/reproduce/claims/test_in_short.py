"""Ours in short: what is not shown comes first, then the numbers, those that are shown in bold."""

import re
from pathlib import Path

from fedl_sim.reproduce.claims.catalogue import HIDDEN, OURS
from fedl_sim.reproduce.claims.effects import evaluated
from fedl_sim.reproduce.claims.in_short import in_short
from tests.support.curves import write_curves

RESULTS = Path(__file__).parents[4] / "docs" / "results"
SURROGATE, OWN_LABEL = "the paper's method (surrogate)", "the paper's method (FedL's loss)"


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
    assert f"Higher accuracy, paper's setting: {OWN_LABEL} (-5.0 points).\n" in text[worse:not_run]
    assert "Higher accuracy, fair setting: " in text[not_run:not_shown]
    assert "Higher accuracy, paper's setting: random devices with random offloading.\n" in text[not_shown:table]
    ours = text[table:].partition("| **Ours without label counts against** |")[0]
    rows = {line.split(" | ")[0].strip("| "): line for line in ours.splitlines() if line.startswith("| ")}
    assert "| **+10.0** [+10.0, +10.0] |" in rows[SURROGATE]
    assert "| -5.0 [-5.0, -5.0] |" in rows[OWN_LABEL]
    assert "too few" not in text


def test_the_committed_lists_and_bold_numbers_are_the_verdicts() -> None:
    found = evaluated(RESULTS)
    compared = [
        (setting, claim, contrast, next((e for e in effects if e.contrast == contrast), None))
        for setting, claims in found.items()
        for claim, effects in claims.items()
        for contrast in claim.contrasts
        if contrast.one in {OURS, HIDDEN} and not contrast.data_set and claim.name != "ours-offloading-speeds-up"
    ]
    text = in_short(found)
    lists, table = text.split("**Ours against its rivals**")
    named = sum(line.count(";") + 1 for line in lists.splitlines() if line.startswith("- "))
    assert named == sum(
        (effect is None or effect.verdict != "shown")
        and contrast.one == OURS
        and not claim.name.startswith("chance")
        and (setting, contrast.measure, claim.source) != ("fair", "datapoints", "table")
        for setting, claim, contrast, effect in compared
    )
    in_table = [effect for _, _, contrast, effect in compared if effect and contrast.measure != "datapoints"]
    bold = sorted(re.findall(r"\*\*(\S+)\*\* \[", table))
    assert bold == sorted(f"{effect.mean:+.1f}" for effect in in_table if effect.verdict == "shown")
    assert len(re.findall(r"\d \[|\*\* \[", table)) == len(in_table)
