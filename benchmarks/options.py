"""The command line that benchmarks of make targets share."""

import argparse
from pathlib import Path

__all__ = ["DOCS", "parser"]

DOCS = Path(__file__).parent.parent / "docs"


def parser(about: str | None, *, writes: bool = False) -> argparse.ArgumentParser:
    """A parser with the docstring as its help and `--smoke`; with `writes` also `--docs`, the folder to write into."""
    made = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--smoke", action="store_true", help="the smallest size: shows that all of it runs, not how fast")
    if writes:
        made.add_argument("--docs", type=Path, default=DOCS, help="folder of the documents that get the tables")
    return made
