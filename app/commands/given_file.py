"""The file that a command plans for: a request as the service takes it, a network or fleet alone, or one to import."""

import json
from pathlib import Path
from typing import Any

import typer

from app.commands.import_fleet import import_plainly
from app.http.problems import MalformedError
from app.imports.formats import is_graph

__all__ = ["read_request"]


def read_request(path: Path) -> tuple[Any, bytes]:
    """The request in the file, or that of the network or fleet in it, and the bytes of the file."""
    content, text = ({"fleet": import_plainly(path)}, b"") if path.is_dir() else _content(path)
    if isinstance(content, dict) and "devices" in content and not {"network", "fleet"} & content.keys():
        content = {"fleet" if isinstance(content["devices"], list) else "network": content}
    return content, text


def _content(path: Path) -> tuple[Any, bytes]:
    """The JSON in the file, and its bytes; a file of another format becomes a fleet first."""
    piped = str(path) == "-"
    text = typer.get_binary_stream("stdin").read() if piped else path.read_bytes()
    try:
        content = json.loads(text)
        reason = ""
    except (ValueError, RecursionError) as error:
        content, reason = None, str(error)
    # null is JSON, and no file of another format.
    if not piped and (reason or content is not None) and is_graph(text, content):
        return {"fleet": import_plainly(path)}, text
    if reason:
        raise MalformedError(f"{'standard input' if piped else path} is not valid JSON: {reason}")
    return content, text
