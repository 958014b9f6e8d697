"""A report on disk: each table as CSV, JSON and Markdown, each figure as PNG and SVG."""

from collections.abc import Mapping
from pathlib import Path

from fedl_sim.errors import MissingExtraError
from fedl_sim.reproduce.study import Report

__all__ = ["write_report"]


def write_report(report: Report, folder: Path, about: Mapping[str, object]) -> list[Path]:
    """Write everything; returns the paths.

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
    return paths + _draw(report, folder)


def _draw(report: Report, folder: Path) -> list[Path]:
    if not report.drawings:
        return []
    try:
        # Figures of its own, not pyplot: no global state, no display.
        from matplotlib import rc_context  # noqa: PLC0415
        from matplotlib.figure import Figure  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtraError("figures need matplotlib: install fedsift[plots]") from error
    paths = []
    # A fixed salt keeps SVG identifiers, and so the files, the same from run to run.
    with rc_context({"svg.hashsalt": "fedsift", "svg.fonttype": "none"}):
        for name, drawing in report.drawings.items():
            figure = Figure(figsize=(drawing.width, drawing.height), layout="constrained")
            drawing.draw(figure)
            for extension in ("png", "svg"):
                path = folder / f"{name}.{extension}"
                figure.savefig(path, dpi=120, metadata={"Date": None} if extension == "svg" else None)
                paths.append(path)
    return paths
