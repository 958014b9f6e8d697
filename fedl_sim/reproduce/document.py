"""`python -m fedl_sim.reproduce.document FILE...`: insert tables and sentences about claims into Markdown files.

A block `<!-- table: PATH -->` … `<!-- end -->` is filled with the file at PATH, relative to the document. A block
`<!-- claim: PATH#NAME/SETTING -->` … `<!-- end -->` is filled with the sentence on a claim, of the claims.json at PATH
(`fedl_sim.reproduce.claims`). So no number is copied by hand, and no sentence says more than its test.
"""

import json
import re
import sys
from pathlib import Path

__all__ = ["filled", "written_by_hand"]

_TABLE = re.compile(r"(<!-- table: (?P<path>\S+) -->\n).*?(?P<end><!-- end -->)", re.DOTALL)
_CLAIM = re.compile(
    r"(<!-- claim: (?P<path>[^#\s]+)#(?P<name>[^/\s]+)/(?P<setting>\S+) -->).*?(?P<end><!-- end -->)", re.DOTALL
)


def filled(document: Path) -> str:
    """Return the document's text with its tables and sentences as they are now.

    Raises:
        OSError: a file is missing.
        KeyError: there is no such claim or setting.
    """

    def table(block: re.Match[str]) -> str:
        content = (document.parent / block["path"]).read_text(encoding="utf-8").strip()
        return f"{block[1]}\n{content}\n\n{block['end']}"

    def claim(block: re.Match[str]) -> str:
        claims = json.loads((document.parent / block["path"]).read_text(encoding="utf-8"))
        return f"{block[1]}{claims[block['setting']][block['name']]['sentence']}{block['end']}"

    return _CLAIM.sub(claim, _TABLE.sub(table, document.read_text(encoding="utf-8")))


def written_by_hand(text: str) -> str:
    """Return a document's text without what is filled in."""
    return _CLAIM.sub("", _TABLE.sub("", text))


if __name__ == "__main__":
    for name in sys.argv[1:]:
        Path(name).write_text(filled(Path(name)), encoding="utf-8")
