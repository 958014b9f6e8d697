"""Tables in documents are those that the experiments wrote."""

from pathlib import Path

import pytest

from fedl_sim.reproduce.document import filled

ROOT = Path(__file__).parents[3]
DOCUMENTS = [path for path in sorted((ROOT / "docs").glob("*.md")) if "<!-- table:" in path.read_text(encoding="utf-8")]


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


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_the_documents_tables_are_the_committed_ones(document: Path) -> None:
    assert filled(document) == document.read_text(encoding="utf-8"), (
        f"{document.name} is behind: run `make experiments`"
    )
