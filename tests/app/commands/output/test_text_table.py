"""Tables on a terminal: no cell is ever cut."""

from hypothesis import given
from hypothesis import strategies as st

from app.commands.output.text_table import text_table

WORDS = st.text("abcdefgh0123456789.", min_size=1, max_size=12)


@given(st.lists(st.lists(WORDS, min_size=3, max_size=3), min_size=1, max_size=5), st.integers(1, 60))
def test_every_cell_is_there_whole_and_lines_fit_if_they_can(rows: list[list[str]], width: int) -> None:
    shown = text_table(["name", "value", "more"], rows, width)
    words = shown.split()
    for row in rows:
        for cell in row:
            assert cell in words
    longest = [max(len(name), *(len(row[i]) for row in rows)) for i, name in enumerate(("name", "value", "more"))]
    lines = shown.splitlines()
    if sum(longest) + 4 <= width:
        assert max(map(len, lines)) <= width
        assert len(lines) == 2 + len(rows)
    else:
        assert len(lines) == 3 * len(rows)


def test_columns_line_up() -> None:
    assert text_table(["scheme", "runs"], [["ours", "3"], ["heuristic", "12"]], 80).splitlines() == [
        "scheme     runs",
        "─────────  ────",
        "ours          3",
        "heuristic    12",
    ]
    assert text_table(["scheme", "runs"], [["heuristic", "12"]], 10).splitlines() == ["heuristic", "  runs  12"]
