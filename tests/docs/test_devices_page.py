"""What docs/guide/devices.md shows works: its program, carrying out the orders that it shows."""

import json
import re
from typing import Any

from tests.support.documents import ROOT


def test_the_program_carries_out_the_orders() -> None:
    text = (ROOT / "docs" / "guide" / "devices.md").read_text(encoding="utf-8")
    shown, program = (
        re.findall(rf"^```{kind}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL) for kind in ("json", "python")
    )
    (sends,) = [order["sends"] for order in json.loads(f"{{{shown[0]}}}")["orders"]]
    names: dict[str, Any] = {}
    exec("\n".join(program), names)
    own = names["shuffled_list"](600, seed=7)
    assert sorted(own) == list(range(600))
    assert own != list(range(600))
    assert own == names["shuffled_list"](600, seed=7)
    first, second = (names["to_send"](own, sends, step) for step in (1, 2))
    assert {to: len(points) for to, points in first.items()} == {0: 120, 4: 80}
    assert first[0] + second[0] == own[:240]
