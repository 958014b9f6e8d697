import io
import urllib.request
from email.message import Message
from pathlib import Path

import pytest

from fedl_sim.data.download import download


class Answer(io.BytesIO):
    def __init__(self, content: bytes, *, cut: bool = False) -> None:
        super().__init__(content)
        self.cut = cut
        self.headers = Message()
        self.headers["Content-Length"] = str(len(content))

    def read(self, size: int | None = -1) -> bytes:
        if self.cut and self.tell() > 0:
            raise ConnectionResetError("cut")
        return super().read(size)


def serve(monkeypatch: pytest.MonkeyPatch, answer: Answer) -> None:
    monkeypatch.setattr(urllib.request, "urlopen", lambda address, timeout: answer)


def test_a_file_is_fetched_into_a_new_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    serve(monkeypatch, Answer(b"x" * 200_000))
    target = tmp_path / "new" / "file.gz"
    assert download("https://example.org/file.gz", target) == b"x" * 200_000
    assert [path.name for path in target.parent.iterdir()] == ["file.gz"]


def test_a_broken_transfer_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    serve(monkeypatch, Answer(b"x" * 200_000, cut=True))
    with pytest.raises(OSError, match="cut"):
        download("https://example.org/file.gz", tmp_path / "file.gz")
    assert not list(tmp_path.iterdir())


def test_only_https_is_fetched(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="https"):
        download("http://example.org/file.gz", tmp_path / "file.gz")
