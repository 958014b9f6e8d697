"""Tables of claims: a line for a claim with its verdicts, then a line for each rival."""

from pathlib import Path

from fedl_sim.reproduce.claims.catalogue import CLAIMS
from fedl_sim.reproduce.claims.claim_tables import claim_tables
from fedl_sim.reproduce.claims.evaluation import evaluated
from fedl_sim.reproduce.tables import Table
from tests.support.curves import write_curves

BOTH = ("gcn_branch+fast", "gcn_branch_fedl+fast")
FASTEST = "**Smart with offloading is the fastest on mnist**"
FEWER = "**Ours needs fewer aggregations than the paper's method**"


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
    write_speeds(tmp_path, "convergence-scarce", {"ours-offload": 0.9} | dict.fromkeys(BOTH, 0.5))
    write_speeds(tmp_path, "convergence-tight", {"ours-offload": 0.9} | dict.fromkeys(BOTH, 0.9))
    _, _, budgets = claim_tables(evaluated(tmp_path))
    assert budgets.columns == ("claim", "scarce budgets", "tight budgets", "loose budgets")
    verdicts, surrogate, own_label = lines(budgets, FEWER, 3)
    assert verdicts == ["not shown", "not shown", "not run"]
    scarce, tight, loose = surrogate
    # All six seeds agree: p = 2 · ½⁶, doubled for two rivals.
    assert scarce == "+33.3 % on every seed, p = 0.062"
    assert tight.startswith("+0.0 % on every seed, p = 1")
    assert loose == "–"
    assert own_label == surrogate


def test_a_claim_with_one_rival_has_one_line(tmp_path: Path) -> None:
    finals = {"gcn_branch+fast": 0.7, "all": 0.6}
    runs = {arm: {(s, 5): v + 0.01 * s * v for s in range(6)} for arm, v in finals.items()}
    write_curves(tmp_path, "accuracy-tight", runs)
    papers, _, _ = claim_tables(evaluated(tmp_path))
    ((paper, fair),) = lines(papers, "**Few sampled devices with offloading end above FedL on all nodes**", 1)
    assert paper.startswith("**shown**: +10.2 points [")
    assert fair == "not run"
    assert not any("against FedL" in str(row["claim"]) for row in papers.rows)


def test_the_papers_number_stands_beside_the_verdict(tmp_path: Path) -> None:
    finals = {"all": 0.8, "gcn_branch+fast": 1.4, "random-offload": 0.5, "heuristic-offload": 0.5}
    write_speeds(tmp_path, "convergence-scarce", finals)
    papers, _, _ = claim_tables(evaluated(tmp_path))
    verdicts, random, heuristic = lines(papers, FASTEST, 3)
    assert verdicts == ["not shown; the paper reports 40 %, which is outside both intervals", "not run"]
    assert random == heuristic == ["+66.7 % on every seed, p = 0.062", "–"]


def test_the_papers_claims_and_ours_have_tables_of_their_own(tmp_path: Path) -> None:
    papers, ours, _ = claim_tables(evaluated(tmp_path))
    for table, mine in ((papers, False), (ours, True)):
        said = {str(row["claim"]).strip("*").lower() for row in table.rows if not str(row["claim"]).startswith("– ")}
        assert said == {claim.said.lower() for claim in CLAIMS if claim.ours == mine}
