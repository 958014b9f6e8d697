from pathlib import Path

from typer.testing import CliRunner

from app.cli import build_cli


def test_an_ending_that_names_no_format_is_refused_before_anything_is_drawn(tmp_path: Path) -> None:
    output = tmp_path / "network.xml"
    done = CliRunner().invoke(build_cli(only="generate"), ["generate", str(output), "--data-set", "none such"])
    assert (done.exit_code, done.stderr) == (1, f"error: {output} must end in .json or .npz\n")
    assert list(tmp_path.iterdir()) == []
