"""Writing a report: each table as CSV, JSON and Markdown, each figure as PNG and SVG."""

from collections.abc import Mapping
from pathlib import Path

from fedl_sim.pictures import DPI, save_drawings
from fedl_sim.reproduce.study import Report

__all__ = ["write_report"]


def write_report(report: Report, folder: Path, about: Mapping[str, object]) -> list[Path]:
    """Write all tables and figures and return their paths.

    Raises:
        MissingExtraError: there are figures and matplotlib is not installed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for table in report.tables:
        texts = {"csv": table.csv()}
        if not table.bulk:
            texts |= {"json": table.json(about), "md": table.markdown()}
        for extension, text in texts.items():
            path = folder / f"{table.name}.{extension}"
            path.write_text(text, encoding="utf-8")
            paths.append(path)
    return paths + (save_drawings(report.drawings, folder, dpi=DPI) if report.drawings else [])
