"""The snippets of docs/client.md run, one after the other, against a live service."""

import re
from pathlib import Path

import pytest

from tests.support.documents import ROOT
from tests.support.server import running_server

SNIPPET = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_snippets_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    text = (ROOT / "docs" / "client.md").read_text(encoding="utf-8")
    names: dict[str, object] = {}
    monkeypatch.chdir(tmp_path)
    with running_server(tmp_path, workers="1", webhook_targets='["127.0.0.0/8"]') as server:
        monkeypatch.setenv("FEDSIFT_URL", server.url)
        for snippet in SNIPPET.findall(text):
            # A program's top level, with its line numbers in this page.
            line = text[: text.index(snippet)].count("\n")
            exec(compile("\n" * line + snippet, "docs/client.md", "exec"), names)
        names["client"].close()  # type: ignore[attr-defined]
    said = capsys.readouterr()
    assert "['hub-2'] optimal" in said.out
    assert "/fleet/step_seconds" in said.out
    assert "2 ['net_" in said.out
    assert "['http://127.0.0.1:9000/hook'] []" in said.out
    assert "succeeded" in said.out
    assert "[2, 4]" in said.out
    assert "[(2, 22)]\n{2: 478}" in said.out
    assert "[False  True]" in said.out
    assert "100 % succeeded" in said.err
