"""Wrong settings are told on one line that names the variable and its value; unknown ones are warned of."""

import socket
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from app.cli import build_cli
from app.commands.environment import read_settings, unknown_settings
from tests.support.command import fedsift


def run(patch: pytest.MonkeyPatch, *words: str, **settings: str) -> Result:
    for name, value in settings.items():
        patch.setenv(f"FEDSIFT_{name}", value)
    return CliRunner().invoke(build_cli(only=words[0]), list(words))


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("PORT", "abc", "should be a valid integer, unable to parse string as an integer"),
        ("PORT", "99999", "should be less than or equal to 65535"),
        ("AUTH", "maybe", "should be 'auto', 'required' or 'off'"),
        ("ALLOWED_HOSTS", "plans.example", 'should be a JSON list, like ["plans.example"]'),
        ("CORS_ORIGINS", "7", "should be a valid tuple"),
    ],
)
def test_a_wrong_setting_is_one_line(monkeypatch: pytest.MonkeyPatch, name: str, value: str, reason: str) -> None:
    done = run(monkeypatch, "serve", **{name: value})
    assert (done.exit_code, done.stdout) == (1, "")
    shown = value if value == "7" else repr(value)
    assert done.stderr == f"error: FEDSIFT_{name} is {shown}: {reason}\n"


def test_a_wrong_option_is_named_as_it_was_given(monkeypatch: pytest.MonkeyPatch) -> None:
    done = run(monkeypatch, "serve", "--port", "99999")
    assert (done.exit_code, done.stderr) == (1, "error: --port is 99999: should be less than or equal to 65535\n")


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("mysql://me:secret@elsewhere/db", "mysql://…@elsewhere/db"),
        ("me:sec@ret@elsewhere", "me:…@elsewhere"),
        ("fedsift.db", "fedsift.db"),
        ("host?user=me&password=secret", "host?user=me&password=…"),
    ],
)
def test_a_database_url_is_shown_without_its_password(monkeypatch: pytest.MonkeyPatch, url: str, shown: str) -> None:
    done = run(monkeypatch, "keys", "list", DATABASE_URL=url)
    told = f"error: FEDSIFT_DATABASE_URL={shown}: must begin with sqlite:/// or postgresql://\n"
    assert (done.exit_code, done.stderr) == (1, told)


@pytest.mark.parametrize("words", [("keys", "list"), ("webhooks", "list"), ("backup", "a")])
@pytest.mark.parametrize("place", ["{}/file/x.db", "{}/file"])
def test_a_database_that_cannot_be_opened_is_named_on_one_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, words: tuple[str, ...], place: str
) -> None:
    (tmp_path / "file").write_text("no database, and no folder")
    monkeypatch.chdir(tmp_path)
    url = f"sqlite:///{place.format(tmp_path)}"
    done = run(monkeypatch, *words, DATABASE_URL=url)
    assert done.exit_code == 1
    assert done.stderr.startswith(f"error: FEDSIFT_DATABASE_URL={url}: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "words",
    [
        ("keys", "list"),
        ("keys", "rotate", "a"),
        ("keys", "revoke", "a"),
        ("keys", "adopt", "a"),
        ("webhooks", "list"),
        ("webhooks", "delete", "a"),
        ("webhooks", "deliveries", "a"),
        ("backup", "a"),
    ],
)
def test_a_database_that_is_not_there_is_named_and_not_made(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, words: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    url = f"sqlite:///{tmp_path}/mistyped/fedsift.db"
    done = run(monkeypatch, *words, DATABASE_URL=url)
    told = f"error: FEDSIFT_DATABASE_URL={url}: there is no database; "
    assert done.exit_code == 1
    assert done.stderr.startswith(told)
    assert done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_key_may_be_the_first_that_is_kept_and_the_new_database_is_named(tmp_path: Path) -> None:
    first = fedsift(tmp_path, "keys", "create", "one")
    assert (first.returncode, first.stderr) == (0, f"made a new database: {tmp_path}/fedsift.db\n")
    second = fedsift(tmp_path, "keys", "create", "two")
    assert (second.returncode, second.stderr) == (0, "")


def test_the_service_names_a_new_database_in_its_logs(tmp_path: Path) -> None:
    for made in (1, 0):
        served = fedsift(tmp_path, "serve", "--port", "0", "--host", "0.0.0.0")  # refused afterwards: there are no keys
        assert served.returncode == 2
        assert served.stderr.count(f"made a new database: {tmp_path}/fedsift.db") == made


def test_a_server_that_is_not_there_is_named_without_its_password(monkeypatch: pytest.MonkeyPatch) -> None:
    done = run(monkeypatch, "keys", "list", DATABASE_URL="postgresql://me:secret@127.0.0.1:1/db")
    assert done.stderr.startswith("error: FEDSIFT_DATABASE_URL=postgresql://…@127.0.0.1:1/db: ")
    assert done.stderr.count("\n") == 1
    assert "secret" not in done.stderr


def test_a_port_that_is_taken_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = run(monkeypatch, "serve", PORT=str(port), DATABASE_URL=f"sqlite:///{tmp_path}/fedsift.db")
    told = f"cannot listen on 127.0.0.1, port {port} (FEDSIFT_HOST, FEDSIFT_PORT): Address already in use"
    assert (done.exit_code, done.stderr) == (1, f"error: {told}\n")


@pytest.mark.parametrize("words", [("keys", "list"), ("backup", "a"), ("webhooks", "list")])
def test_every_command_warns_of_a_variable_that_is_none(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, words: tuple[str, ...]
) -> None:
    """A wrong name here would be a backup of another database."""
    monkeypatch.chdir(tmp_path)
    done = run(monkeypatch, *words, DATABASE_URL="sqlite:///fedsift.db", DATABSE_URL="sqlite:///other.db")
    told = "warning: FEDSIFT_DATABSE_URL is not a setting of fedsift; did you mean FEDSIFT_DATABASE_URL?"
    assert done.stderr.splitlines()[0] == told


def test_an_unknown_variable_is_warned_of_with_the_nearest_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    done = run(monkeypatch, "serve", PROT="8000", SOMETHING_ELSE="1", PORT="abc")
    warnings = done.stderr.splitlines()[:-1]
    assert warnings == [
        "warning: FEDSIFT_PROT is not a setting of fedsift; did you mean FEDSIFT_PORT?",
        "warning: FEDSIFT_SOMETHING_ELSE is not a setting of fedsift",
    ]


def test_variables_of_clients_and_tests_are_no_mistakes(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("API_KEY", "URL", "TEST_IMAGE", "BASE_IMAGE_TOOL", "HOST"):
        monkeypatch.setenv(f"FEDSIFT_{name}", "x")
    assert unknown_settings() == {}


def test_an_option_counts_more_than_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FEDSIFT_PORT", "1")
    monkeypatch.setenv("FEDSIFT_ALLOWED_HOSTS", '["plans.example"]')
    settings = read_settings(port=2, host=None)
    assert (settings.port, settings.host, settings.allowed_hosts) == (2, "127.0.0.1", ("plans.example",))
