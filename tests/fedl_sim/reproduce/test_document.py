"""Tables and sentences in documents are those that the experiments wrote."""

import json
import re
from pathlib import Path

import pytest

from fedl_sim.reproduce.document import filled, written_by_hand

ROOT = Path(__file__).parents[3]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs" / "guide").glob("*.md"))]
DOCUMENTS = [path for path in PAGES if re.search("<!-- (table|claim): ", path.read_text(encoding="utf-8"))]
# Comparisons with numbers that people wrote, by how they begin: tests/docs/ holds each to the committed results.
HELD = {
    "churn.md": (
        "- At 20 % loss healing ends",
        "- At 5 % and 10 % loss, healing ends",
        "- Choosing all devices anew by the sampler ends",
        "At 20 % loss it ends",
        "at 20 % loss it ends",
        "If nobody comes back, it ends",
        "they end .4 to .7 points lower",
        "![Final accuracy of each policy under each condition, tight budgets]",
    ),
    "choosing.md": (
        "- **Loose budgets.** On simulated networks",
        "- **Noise.** With 200 datapoints",
        "- **Failures.** On",
    ),
    "failures.md": ("- With tight budgets, under which no data could be sent, a fixed set of devices ended",),
    "sampling.md": ("Down to ε = 18/datapoints 94 % and more of the gain is left",),
}
# Who says how much better a method trains, says a number: it has to be in a block that is filled in.
AMOUNT = r"\d+(\.\d+)?\s*(%|points)|\d+ of \d+"
VERDICT = (
    r"\b(fewer|less|more|above|below|better|worse|higher|lower|save[sd]?|add(s|ed)?|gain(s|ed)?|keeps?|kept|costs?|loses?|"
    r"ends?|ended)\b"
)
BOAST = re.compile(rf"({AMOUNT})[^.|]*{VERDICT}|{VERDICT}[^.|]*({AMOUNT})")
MEASURES = re.compile(r"aggregations|datapoints|accuracy|points")


def test_a_block_gets_its_table_and_nothing_else_changes(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("| x |\n")
    document = tmp_path / "d.md"
    document.write_text("before\n<!-- table: a.md -->\nold\n<!-- end -->\nafter <!-- end -->\n")
    assert filled(document) == "before\n<!-- table: a.md -->\n\n| x |\n\n<!-- end -->\nafter <!-- end -->\n"
    document.write_text(filled(document))
    assert filled(document) == document.read_text()
    document.write_text("<!-- table: b.md -->\n<!-- end -->")
    with pytest.raises(OSError, match=r"b\.md"):
        filled(document)


def test_a_block_gets_the_sentence_on_its_claim(tmp_path: Path) -> None:
    (tmp_path / "claims.json").write_text(json.dumps({"paper": {"one": {"sentence": "It is so."}}}))
    document = tmp_path / "d.md"
    document.write_text("- <!-- claim: claims.json#one/paper -->It is more.<!-- end --> More.\n")
    assert filled(document) == "- <!-- claim: claims.json#one/paper -->It is so.<!-- end --> More.\n"
    assert written_by_hand(filled(document)) == "-  More.\n"
    document.write_text("<!-- claim: claims.json#other/paper --><!-- end -->")
    with pytest.raises(KeyError, match="other"):
        filled(document)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_the_documents_are_filled_with_the_committed_data(document: Path) -> None:
    assert filled(document) == document.read_text(encoding="utf-8"), (
        f"{document.name} is behind: run `make experiments`"
    )


def test_a_boast_is_found_where_it_is_written_by_hand() -> None:
    assert boasts("Ours needs 25 % fewer aggregations.\n") == ["Ours needs 25 % fewer aggregations"]
    assert boasts("It saves 3 points\nof accuracy. The rest.") == ["It saves 3 points of accuracy"]
    assert boasts("It gained 16 points of accuracy.") == ["It gained 16 points of accuracy"]
    assert boasts("| ours | 25 % fewer aggregations |\nBatches of 10.") == []
    assert boasts("<!-- claim: c.json#a/paper -->It needs 25 % fewer datapoints.<!-- end -->") == []


@pytest.mark.parametrize("document", PAGES, ids=lambda path: path.name)
def test_no_comparison_with_a_number_is_written_by_hand(document: Path) -> None:
    found = boasts(document.read_text(encoding="utf-8"))
    held = HELD.get(document.name, ())
    assert [sentence for sentence in found if not sentence.startswith(held)] == []
    assert all(any(sentence.startswith(one) for sentence in found) for one in held), "a page no longer says this"


@pytest.mark.parametrize(
    "document", [ROOT / "README.md", ROOT / "docs" / "reproduction.md"], ids=lambda path: path.name
)
def test_both_front_pages_say_what_is_not_shown_before_the_numbers_of_ours(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    assert "results/claims-in-short.md -->" in text
    assert text.index("Ours is **not shown** to be better") < text.index("| rival |")


def boasts(text: str) -> list[str]:
    """Sentences outside of tables that say by how much a method is better."""
    prose = " ".join(line for line in written_by_hand(text).splitlines() if not line.lstrip().startswith("|"))
    sentences = re.split(r"(?<=[.:;])\s+", prose)
    return [s.strip().rstrip(".") for s in sentences if BOAST.search(s) and MEASURES.search(s)]
