from pathlib import Path

import pytest

from fedl_sim.atomic import atomic_file, write_atomically


def test_a_file_is_whole_or_absent(tmp_path: Path) -> None:
    write_atomically(tmp_path / "deep" / "file.npz", b"one")
    write_atomically(tmp_path / "deep" / "file.npz", b"two")
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["file.npz"]
    assert (tmp_path / "deep" / "file.npz").read_bytes() == b"two"


def test_a_write_that_fails_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_atomically(path, b"old")

    def fail_half_way() -> None:
        with atomic_file(path) as file:
            file.write(b"half")
            file.flush()
            assert path.read_bytes() == b"old"
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail_half_way()
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]
    assert path.read_bytes() == b"old"
