"""The tables of capacity in docs/deployment.md: what `make capacity` measured last, and nothing else."""

import json

from benchmarks.capacity.__main__ import DOCUMENT, RESULTS, tables
from fedl_sim.reproduce.document import filled


def test_the_document_shows_the_results() -> None:
    results = json.loads((RESULTS / "capacity.json").read_text(encoding="utf-8"))
    for name, text in tables(results).items():
        assert (RESULTS / name).read_text(encoding="utf-8") == text
    assert filled(DOCUMENT) == DOCUMENT.read_text(encoding="utf-8")
