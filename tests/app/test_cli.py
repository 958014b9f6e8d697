"""The console script tells what a user can mend on one line, and hides no bug."""

import os
import subprocess
import sys
from importlib.metadata import version

import pytest
from typer.testing import CliRunner

from app.cli import build_cli
from solver.errors import FedsiftError
from tests.support.waiting import PATIENCE


def test_an_error_of_ours_is_one_line_and_status_1(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FEDSIFT_DATABASE_URL", "mysql://elsewhere")
    done = CliRunner().invoke(build_cli(only="keys"), ["keys", "list"])
    assert done.exit_code == 1
    assert done.stderr == "error: FEDSIFT_DATABASE_URL=mysql://elsewhere: must begin with sqlite:/// or postgresql://\n"
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


def completed(words: str, shell: str = "bash") -> tuple[list[str], set[str]]:
    """What a shell is offered for a line, and the packages of ours that were loaded for it."""
    program = "import sys; sys.argv = ['fedsift']\nfrom app.cli import main\ntry:\n    main()\nfinally:\n"
    program += "    print('loaded', *sorted(set(sys.modules) & {'fedl_sim', 'solver'}), file=sys.stderr)"
    bash = {"COMP_WORDS": words, "COMP_CWORD": str(len(words.split(" ")) - 1)}
    given = bash if shell == "bash" else {"_TYPER_COMPLETE_ARGS": words}
    environment = os.environ | given | {"_FEDSIFT_COMPLETE": f"complete_{shell}"}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=PATIENCE, env=environment
    )
    return done.stdout.split(), set(done.stderr.split()[1:])


def test_a_shell_completes_names_of_commands_without_loading_any() -> None:
    assert completed("fedsift se") == (["serve"], set())
    assert {"plan", "serve", "worker"} <= set(completed("fedsift ")[0])


def test_a_shell_completes_options_by_loading_that_command_alone() -> None:
    offered, loaded = completed("fedsift serve --p")
    assert offered == ["--port", "--processes"]
    assert "fedl_sim" not in loaded
    assert completed("fedsift keys ro")[0] == ["rotate"]


def test_zsh_is_offered_the_same() -> None:
    assert "serve" in "".join(completed("fedsift se", "zsh")[0])


def test_the_version_is_the_package_s() -> None:
    done = CliRunner().invoke(build_cli(), ["--version"])
    assert (done.exit_code, done.output) == (0, f"fedsift {version('fedsift')}\n")
