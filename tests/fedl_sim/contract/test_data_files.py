"""Which data sets a folder has."""

from pathlib import Path

from fedl_sim.contract import DATA_FILES, data_sets_in


def test_a_data_set_is_there_with_all_its_files(tmp_path: Path) -> None:
    assert data_sets_in(tmp_path / "nowhere") == ("digits",)
    folder = tmp_path / "mnist"
    folder.mkdir()
    for file in DATA_FILES:
        assert data_sets_in(tmp_path) == ("digits",)
        (folder / file).touch()
    assert data_sets_in(tmp_path) == ("digits", "mnist")
