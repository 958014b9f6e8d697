"""Tables of claims: a line for a claim with its verdicts, then a line for each rival."""

from pathlib import Path

from fedl_sim.reproduce.claims.catalogue import OURS_CLAIMS, OWN_LABEL, PAPERS_CLAIMS, RIVALS
from fedl_sim.reproduce.claims.claim_tables import claim_tables
from fedl_sim.reproduce.claims.effects import evaluated
from fedl_sim.reproduce.tables import Table
from tests.support.curves import write_curves

FASTEST = "**Smart with offloading is the fastest on mnist (the paper: by 40 % on average)**"
FEWER = "**Ours needs fewer aggregations than its rivals**"


def lines(table: Table, claim: str, count: int) -> list[list[str]]:
    """The cells after the first of a claim's lines, and of the lines below it."""
    names = [row["claim"] for row in table.rows]
    first = names.index(claim)
    return [[str(row[column]) for column in table.columns[1:]] for row in table.rows[first : first + count]]


def write_speeds(results: Path, folder: str, finals: dict[str, float]) -> None:
    """The target is 0.68; who ends above it reaches it after two aggregations, who ends at twice that after one."""
    runs = {arm: {(s, 6): v for s in range(6)} for arm, v in {"all": 0.8, **finals}.items()}
    write_curves(results, folder, runs, sizes=(700,))


def test_every_rival_has_a_line_with_its_numbers_below_the_verdicts(tmp_path: Path) -> None:
    write_speeds(tmp_path, "convergence-scarce", {"ours-offload": 0.9} | dict.fromkeys(RIVALS, 0.5))
    write_speeds(tmp_path, "convergence-tight", {"ours-offload": 0.9} | dict.fromkeys(RIVALS, 0.9))
    *_, budgets = claim_tables(evaluated(tmp_path))
    assert budgets.columns == ("claim", "scarce budgets", "tight budgets", "loose budgets")
    verdicts, *rivals = lines(budgets, FEWER, 1 + len(RIVALS))
    assert verdicts == ["not shown", "not shown", "not run"]
    scarce, tight, loose = rivals[0]
    # All six seeds agree: p = 2 · ½⁶, five times that for five rivals.
    assert scarce == "+33.3 % on every seed, p = 0.16; reached by 100% against 0% of runs"
    assert tight == "+0.0 % on every seed, p = 1"
    assert loose == "–"
    assert all(rival == rivals[0] for rival in rivals)


def test_a_claim_with_one_rival_has_one_line_and_the_papers_one_column_for_each_label(tmp_path: Path) -> None:
    finals = {"gcn_branch+fast": 0.7, "all": 0.6}
    runs = {arm: {(s, 5): v + 0.01 * s * v for s in range(6)} for arm, v in finals.items()}
    write_curves(tmp_path, "accuracy-tight", runs)
    papers, *_ = claim_tables(evaluated(tmp_path))
    assert [column.split(" (GCN: ")[1] for column in papers.columns[1:]] == ["FedL's loss)", "surrogate)"] * 2
    claim = "**Few devices chosen by smart sampling with offloading end above FedL on all nodes, S = 4, 5**"
    ((own, surrogate, *fair),) = lines(papers, claim, 1)
    assert own == "not run"
    assert surrogate.startswith("**shown**: +10.2 points [")
    assert fair == ["not run", "not run"]


def test_a_line_says_which_arm_is_compared_with_which(tmp_path: Path) -> None:
    papers, *_ = claim_tables(evaluated(tmp_path))
    names = [row["claim"] for row in papers.rows]
    first = names.index("**Offloading speeds up smart, random and heuristic sampling**")
    assert names[first + 1 : first + 3] == [
        "– smart w/ offload against itself without offloading",
        "– random w/ offload against itself without offloading",
    ]
    assert names[names.index(FASTEST) + 1] == "– against random w/ offload"


def test_the_papers_claims_and_ours_have_tables_of_their_own(tmp_path: Path) -> None:
    papers, ours, papers_budgets, ours_budgets = claim_tables(evaluated(tmp_path))
    for table, claims in ((papers, PAPERS_CLAIMS[OWN_LABEL]), (ours, OURS_CLAIMS)):
        said = [str(row["claim"]) for row in table.rows if not str(row["claim"]).startswith("– ")]
        assert said == [f"**{claim.said[0].upper()}{claim.said[1:]}**" for claim in claims]
    for table in (papers_budgets, ours_budgets):
        assert not any("FedL on all nodes" in str(row["claim"]) for row in table.rows)
