"""`python -m fedl_sim.reproduce.document FILE...`: insert tables into Markdown files.

A block `<!-- table: PATH -->` … `<!-- end -->` is filled with the file at PATH, relative to the
document. So no number is copied by hand.
"""

import re
import sys
from pathlib import Path

__all__ = ["filled"]

_BLOCK = re.compile(r"(<!-- table: (?P<path>\S+) -->\n).*?(?P<end><!-- end -->)", re.DOTALL)


def filled(document: Path) -> str:
    """Return the document's text with its tables as they are now.

    Raises:
        OSError: a table is missing.
    """

    def content(block: re.Match[str]) -> str:
        table = (document.parent / block["path"]).read_text(encoding="utf-8").strip()
        return f"{block[1]}\n{table}\n\n{block['end']}"

    return _BLOCK.sub(content, document.read_text(encoding="utf-8"))


if __name__ == "__main__":
    for name in sys.argv[1:]:
        Path(name).write_text(filled(Path(name)), encoding="utf-8")
