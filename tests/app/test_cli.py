"""The console script tells what a user can mend on one line, and hides no bug."""

import pytest
from typer.testing import CliRunner

from app.cli import build_cli
from solver.errors import FedsiftError


def test_an_error_of_ours_is_one_line_and_status_1(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FEDSIFT_DATABASE_URL", "mysql://elsewhere")
    done = CliRunner().invoke(build_cli(only="keys"), ["keys", "list"])
    assert done.exit_code == 1
    assert done.stderr == "error: FEDSIFT_DATABASE_URL: must begin with sqlite:/// or postgresql://\n"
    assert done.stdout == ""


def test_a_store_that_does_not_answer_is_one_line_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FEDSIFT_DATABASE_URL", "sqlite:////dev/null/fedsift.db")
    done = CliRunner().invoke(build_cli(only="keys"), ["keys", "list"])
    assert done.exit_code == 1
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1


def test_a_bug_keeps_its_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: object) -> None:
        raise ValueError("a bug")

    monkeypatch.setattr("app.keys.store.KeyStore.all", fail)
    done = CliRunner().invoke(build_cli(only="keys"), ["keys", "list"])
    assert isinstance(done.exception, ValueError)
    assert not isinstance(done.exception, FedsiftError)
    assert done.stderr == ""
