"""`python -m fedl_sim.reproduce.claims RESULTS`: write claims.json and its tables from the curves of a results folder.

Documents show the sentences between `<!-- claim: PATH#NAME/SETTING -->` and `<!-- end -->`
(`fedl_sim.reproduce.document`), so that none says more than its test.
"""

import json
import sys
from pathlib import Path

from fedl_sim.reproduce.claims.claim_tables import claim_tables
from fedl_sim.reproduce.claims.effects import claims_document, evaluated
from fedl_sim.reproduce.claims.in_short import in_short

__all__ = ["main"]


def main(results: Path) -> None:
    """Write the tables and the sentences."""
    found = evaluated(results)
    for table in claim_tables(found):
        (results / f"{table.name}.md").write_text(table.markdown(), encoding="utf-8")
    (results / "claims-in-short.md").write_text(in_short(found), encoding="utf-8")
    text = json.dumps(claims_document(found), indent=1, ensure_ascii=False)
    (results / "claims.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
