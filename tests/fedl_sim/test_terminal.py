"""Seeds as they are typed."""

import pytest

from fedl_sim.terminal import parse_seeds


@pytest.mark.parametrize(("text", "seeds"), [("7", (7,)), ("2,0,2", (2, 0, 2)), ("3:6", (3, 4, 5)), (" 1, 2", (1, 2))])
def test_numbers_and_ranges(text: str, seeds: tuple[int, ...]) -> None:
    assert parse_seeds(text) == seeds


@pytest.mark.parametrize("text", ["", "1,", "a", "1:b", "1:2:3", "0.5"])
def test_what_is_neither_is_refused_with_what_was_typed(text: str) -> None:
    with pytest.raises(ValueError, match="a range like 0:5") as refused:
        parse_seeds(text)
    assert repr(text) in str(refused.value)
