"""What documents name exists: make targets, files, modules, commands and their options, settings, symbols."""

import importlib
import re
import shlex
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.main import get_command

from app.settings import Settings
from tests.support.documents import PACKAGES, ROOT, code_of, documents, name_of, resolves, source_texts

STATIC = ROOT / "app" / "studio" / "static"
LINK = re.compile(r"(?<!\\)\]\((?!https?://|mailto:)([^)#\s]*)(#[^)\s]*)?\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
FILE = re.compile(r"[\w./-]+\.(?:css|js|mk|py|toml|ts|yaml)")
DOTTED = re.compile(rf"(?:{'|'.join(PACKAGES)}|benchmarks)(?:\.\w+)+")
# In code "make" is also a verb: what is meant as a target is in back ticks, in brackets, or said to be run.
TARGET_IN_CODE = re.compile(r"(?:`|\(|[Rr]un )make ([a-z]+(?:-[a-z]+)*)(?![\w-])")
TARGET = re.compile(r"\bmake ([a-z]+(?:-[a-z]+)*)")
SETTING = re.compile(r"\bFEDSIFT_[A-Z_]+[A-Z]\b")
# README is shown outside the repository too, so its pictures have absolute addresses.
OURS = re.compile(r"https://(?:raw\.githubusercontent|github)\.com/fedsift/fedsift/(?:(?:blob|tree)/)?main/([^)\s]+)")


@cache
def targets() -> set[str]:
    makefiles = [ROOT / "Makefile", *(ROOT / "deploy").glob("*.mk")]
    return {name for path in makefiles for name in re.findall(r"^([a-z-]+):", path.read_text(), re.MULTILINE)}


@cache
def commands() -> dict[str, Any]:
    """Each command of `fedsift`, as pyproject.toml declares it."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]["fedsift.commands"]
    found = {}
    for name, value in declared.items():
        module, _, attribute = value.partition(":")
        command = getattr(importlib.import_module(module), attribute)
        if not isinstance(command, typer.Typer):
            alone = typer.Typer()
            alone.command()(command)
            command = alone
        found[name] = get_command(command)
    return found


@pytest.mark.parametrize("path", documents(), ids=name_of)
def test_make_targets_in_documents_exist(path: Path) -> None:
    code = code_of(path.read_text(encoding="utf-8"))
    named = {name for line in code for name in TARGET.findall(line.split("#")[0])}
    assert named <= targets()


def test_make_targets_in_code_exist() -> None:
    named = {(name_of(p), t) for p in source_texts() for t in TARGET_IN_CODE.findall(p.read_text(encoding="utf-8"))}
    assert len(named) > 10
    assert {(path, target) for path, target in named if target not in targets()} == set()


@pytest.mark.parametrize("path", documents(), ids=name_of)
def test_links_lead_somewhere(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert [file for file in OURS.findall(text) if not (ROOT / file).exists()] == []
    for file, anchor in LINK.findall(text):
        linked = path.parent / file if file else path
        assert linked.exists(), file
        if anchor and linked.suffix == ".md":
            headings = HEADING.findall(linked.read_text(encoding="utf-8"))
            slugs = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
            assert anchor[1:] in slugs, f"{file}{anchor}"


@pytest.mark.parametrize("path", documents(), ids=name_of)
def test_files_and_modules_that_are_named_exist(path: Path) -> None:
    """Files are named from the root, those of the studio's page from its folder; superseded decisions are history."""
    text = path.read_text(encoding="utf-8")
    if "\nStatus: superseded" in text:
        return
    for code in re.findall(r"`([^`\n]+)`", text):
        if FILE.fullmatch(code) and not code.startswith(("/", "build/")):
            assert any((base / code).is_file() for base in (ROOT, STATIC)), code
        if DOTTED.fullmatch(code):
            assert resolves(code), code
    for module in re.findall(r"python -m ([\w.]+)", text):
        if module.split(".")[0] in {*PACKAGES, "benchmarks"}:
            assert importlib.util.find_spec(module), module


@pytest.mark.parametrize("path", documents(), ids=name_of)
def test_commands_and_their_options_exist(path: Path) -> None:
    for line in code_of(path.read_text(encoding="utf-8")):
        for call in re.findall(r"(?:^|[\s/|])fedsift +([a-z].*)", line):
            words = shlex.split(call.split("|")[0], comments=True)
            assert words[0] in commands(), line
            command = commands()[words[0]]
            if isinstance(command, typer.core.TyperGroup) and len(words) > 1:
                assert words[1] in command.commands, line
                command = command.commands[words[1]]
            known = {name for option in command.params for name in (*option.opts, *option.secondary_opts)}
            assert {word.split("=")[0] for word in words if word.startswith("-") and word != "-"} <= known, line


def test_settings_in_documents_exist_and_every_setting_is_documented() -> None:
    settings = {f"FEDSIFT_{name.upper()}" for name in Settings.model_fields}
    named = {name for path in documents() for name in SETTING.findall(path.read_text(encoding="utf-8"))}
    assert settings <= named
    # The rest are read by CI, by make, by tests or by an example.
    code = "\n".join(path.read_text(encoding="utf-8") for path in source_texts())
    assert {name for name in named - settings if name not in code} == set()


def test_symbols_of_the_notation_are_in_the_files_named() -> None:
    rows = re.findall(r"^\| .+ \|$", (ROOT / "docs" / "notation.md").read_text(encoding="utf-8"), re.MULTILINE)[1:]
    checked = 0
    for row in rows:
        columns = [cell.strip() for cell in row.strip("|").split("|")]
        code, files = columns[1], re.findall(r"`([^`]+)`", columns[-1])
        text = "\n".join((ROOT / file).read_text(encoding="utf-8") for file in files)
        for name in re.findall(r"`[^`]*?(\w+)\)?`", code) if files else ():
            assert re.search(rf"\b{name}\b", text), f"{name} is not in {files}"
            checked += 1
    assert checked > 40
