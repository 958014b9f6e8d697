"""Generated clients: their types hold, and they do with the live service what their users would."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.server import Server

pytestmark = pytest.mark.clients

PROGRAMS = Path(__file__).parent / "programs"
DOCUMENTATION = Path(__file__).parents[2] / "docs" / "clients.md"


def snippet(language: str, url: str) -> str:
    """The documentation's lines for a language, turned to this service."""
    found = re.search(rf"```{language}\n(.*?)```", DOCUMENTATION.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    assert len(found[1].splitlines()) <= 10
    return found[1].replace("http://127.0.0.1:8000", url)


def run(*command: str | Path, cwd: Path, **environment: str) -> str:
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


def test_python_is_strictly_typed(build: Path, tmp_path: Path) -> None:
    """The program and all of the generated package, with mypy's strict rules and nothing of our configuration."""
    package = build / "clients" / "python"
    (tmp_path / "mypy.ini").write_text("[mypy]\n")
    mypy = [
        sys.executable,
        "-m",
        "mypy",
        "--config-file",
        "mypy.ini",
        "--strict",
        "--cache-dir",
        str(tmp_path / "cache"),
    ]
    run(*mypy, PROGRAMS / "closed_loop.py", package / "fedsift_api", cwd=tmp_path, MYPYPATH=str(package))


def test_python_plans_loops_and_validates(build: Path, service: list[str], tmp_path: Path) -> None:
    package = build / "clients" / "python"
    said = run(sys.executable, PROGRAMS / "closed_loop.py", *service, cwd=tmp_path, PYTHONPATH=str(package))
    assert "planned" in said
    assert "looped 2" in said
    assert "validated 0." in said


def test_typescript_is_strictly_typed_plans_loops_and_validates(build: Path, service: list[str]) -> None:
    folder = build / "clients" / "typescript"
    shutil.copy(PROGRAMS / "closed_loop.ts", folder)
    run("node_modules/.bin/tsc", "--project", folder, cwd=folder)
    said = run("node", "dist/closed_loop.js", *service, cwd=folder)
    assert "planned" in said
    assert "looped 2" in said
    assert "validated 0." in said


def test_the_documentations_python(build: Path, server: Server, tmp_path: Path) -> None:
    (tmp_path / "snippet.py").write_text(snippet("python", server.url))
    said = run(sys.executable, "snippet.py", cwd=tmp_path, PYTHONPATH=str(build / "clients" / "python"))
    assert said.startswith("[0] ")


def test_the_documentations_typescript(build: Path, server: Server) -> None:
    folder = build / "clients" / "typescript"
    (folder / "snippet.ts").write_text(snippet("typescript", server.url))
    run("node_modules/.bin/tsc", "--project", folder, cwd=folder)
    assert run("node", "dist/snippet.js", cwd=folder).startswith("[ 0 ] ")


def test_java_compiles_and_plans(build: Path, service: list[str], server: Server, tmp_path: Path) -> None:
    """Against the Jackson that the generator itself carries: no Maven repository is needed."""
    (jar,) = (build / "generators").rglob("openapi-generator.jar")
    sources = sorted((build / "clients" / "java" / "src" / "main" / "java").rglob("*.java"))
    assert len(sources) > 30
    documented = tmp_path / "Snippet.java"
    documented.write_text(
        "import fedsift.client.*; import fedsift.client.api.*; import fedsift.client.model.*;\n"
        "import java.net.http.HttpClient; import java.util.List;\n"
        "public class Snippet { public static void main(String[] arguments) throws Exception {\n"
        f"{snippet('java', server.url)}}} }}\n"
    )
    programs = (PROGRAMS / "FirstPlan.java", documented)
    run("javac", "-nowarn", "-d", tmp_path, "-cp", jar, *programs, *sources, cwd=tmp_path)
    classes = f"{jar}{os.pathsep}{tmp_path}"
    assert "planned [0]" in run("java", "-cp", classes, "FirstPlan", *service, cwd=tmp_path)
    assert run("java", "-cp", classes, "Snippet", cwd=tmp_path).startswith("[0] ")


def test_go_is_generated_with_every_operation(build: Path) -> None:
    folder = build / "clients" / "go"
    text = "\n".join(path.read_text(encoding="utf-8") for path in folder.glob("api_*.go"))
    for operation in ("CreatePlan", "CreateRun", "Aggregate", "GetRun", "ListSamplers"):
        assert f") {operation}(" in text
