"""The picture of a validation explains itself."""

from pathlib import Path
from typing import Any

from app.commands.output.curves import save_curves
from sampler.scheme_styles import style_of


def scheme(name: str, reached: float) -> dict[str, Any]:
    curve = {"mean": [0.1, 0.5, 0.9], "deviation": [0.0, 0.1, 0.1]}
    return {"scheme": name, "runs": 3, "runs_planned": 5, "reached": reached, "accuracy": curve, "loss": curve}


def test_runs_bands_and_missed_targets_are_told_in_the_picture(tmp_path: Path) -> None:
    validation = {"schemes": [scheme("ours-offload", 1.0), scheme("random", 0.25)], "target": 0.8}
    validation |= {"data_set": "digits", "sample_size": 4, "state": "running"}
    first, second = tmp_path / "curves.svg", tmp_path / "again.svg"
    save_curves(validation, first)
    save_curves(validation, second)
    text = first.read_text(encoding="utf-8")
    for words in (
        "ours-offload, 3 of 5 runs<",
        "random, 3 of 5 runs, target reached by 25%<",
        "target 0.8<",
        "Lines: mean over runs. Bands: ± one standard deviation. Dashed: no offloading.",
        "test error, 1 − accuracy (log scale)",
        "digits, S = 4, running",
    ):
        assert words in text
    assert style_of("random").colour.lower() in text
