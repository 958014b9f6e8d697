from importlib.metadata import version

from fastapi.testclient import TestClient

from app.main import create_app


def test_healthz_answers_with_the_version() -> None:
    answer = TestClient(create_app()).get("/healthz")
    assert answer.status_code == 200
    assert answer.json() == {"status": "ok", "version": version("fedsift")}
