"""Seeds as they are typed, and tables with all their digits."""

import io

import pytest
from rich.console import Console
from rich.table import Table

from fedl_sim.terminal import parse_seeds, print_whole


@pytest.mark.parametrize(("text", "seeds"), [("7", (7,)), ("2,0,2", (2, 0, 2)), ("3:6", (3, 4, 5)), (" 1, 2", (1, 2))])
def test_numbers_and_ranges(text: str, seeds: tuple[int, ...]) -> None:
    assert parse_seeds(text) == seeds


@pytest.mark.parametrize("text", ["", "1,", "a", "1:b", "1:2:3", "0.5"])
def test_what_is_neither_is_refused_with_what_was_typed(text: str) -> None:
    with pytest.raises(ValueError, match="a range like 0:5") as refused:
        parse_seeds(text)
    assert repr(text) in str(refused.value)


@pytest.mark.parametrize("width", [20, 80])
def test_a_table_is_never_cut(width: int) -> None:
    table = Table("scheme", "accuracy", "cost")
    table.add_row("heuristic-offload", "0.796 ± 0.123", "50123")
    written = io.StringIO()
    print_whole(Console(file=written, width=width), table)
    for cell in ("heuristic-offload", "0.796 ± 0.123", "50123"):
        assert cell in written.getvalue()
