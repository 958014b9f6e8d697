"""The fenced blocks of a page, carried out one after the other in a folder of their own.

| block | what becomes of it |
|---|---|
| with `title="name"` | written to the file of that name |
| `sh`, `python` | run; must succeed |
| `text` or `json` right behind such a block | what it must have printed |
| any other `json` | must be JSON, or the members of an object |
| `shell`, `console` and all others | not run |

In a shown `text`, `…` stands for any text, alone on a line for any lines. What was measured, `mean ± deviation`, may
differ a little, since another processor rounds in another way. A shown `json` is part of what was printed:
it may leave members of objects out, `"…"` stands for any value, and numbers agree as far as their digits are shown.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from tests.support.waiting import PATIENCE

__all__ = ["Block", "blocks_of", "check_shown", "run_page"]

SHOWN_URL = "127.0.0.1:8000"
RUN = {"sh", "python"}
SHOWN = {"json", "text"}
_FENCE = re.compile(r"^```(\w*)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_TITLE = re.compile(r'title="([^"]+)"')
_MEASURED = re.compile(r"(\d+\.\d+) ± \d+\.\d+")
_CLOSE = 0.02


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, the file that it is to be saved as, its text, and the line of its fence."""

    language: str
    file: str | None
    text: str
    line: int


def blocks_of(text: str) -> list[Block]:
    found = []
    for match in _FENCE.finditer(text):
        title = _TITLE.search(match[2])
        found.append(Block(match[1], title[1] if title else None, match[3], text[: match.start()].count("\n") + 1))
    return found


def run_page(page: Path, folder: Path, url: str) -> int:
    """Carry out the blocks of a page against the service at `url`; return how many were run."""
    printed: str | None = None
    done = 0
    for block in blocks_of(page.read_text(encoding="utf-8")):
        place = f"{page.name}:{block.line}"
        text = block.text.replace(SHOWN_URL, url.removeprefix("http://"))
        if block.file:
            (folder / block.file).write_text(text, encoding="utf-8")
            printed = None
        elif block.language in RUN:
            printed = _printed(block.language, text, folder, place)
            done += 1
        elif block.language in SHOWN and printed is not None:
            check_shown(block, printed, place)
            printed = None
        elif block.language == "json":
            _parsed(block.text, place)
    return done


def _printed(language: str, text: str, folder: Path, place: str) -> str:
    """What a block prints, errors among it. Variables of a shell block are there in the next one."""
    # Programs of the environment that runs the tests, in a terminal of 80 columns.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    surroundings = os.environ | {"PATH": path, "COLUMNS": "80", "NO_COLOR": "1"}
    if language == "sh":
        state = folder / ".state"
        state.touch()
        script = f'set -eu\n. "{state}"\nset -a\n{text}\nset +a\nexport -p > "{state}"\n'
        command = ["sh", "-c", script]
    else:
        command = [sys.executable, "-c", text]
    ended = subprocess.run(
        command,
        cwd=folder,
        env=surroundings,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert ended.returncode == 0, f"{place} ended with {ended.returncode}:\n{ended.stdout}"
    return ended.stdout


def check_shown(shown: Block, printed: str, place: str) -> None:
    if shown.language == "json":
        difference = next(_differences(_parsed(shown.text, place), _parsed(printed, place), ""), None)
        assert difference is None, f"{place}: {difference}"
    else:
        found = _pattern(shown.text).fullmatch(_trimmed(printed))
        assert found, f"{place}: shown\n{shown.text}\nprinted\n{printed}"
        for said, mean in zip(_MEASURED.findall(shown.text), found.groups(), strict=True):
            assert abs(float(said) - float(mean)) <= _CLOSE, f"{place}: shown as {said}, printed {mean}"


def _pattern(shown: str) -> re.Pattern[str]:
    lines = [
        r"(?:.*\n)*?" if line.strip() == "…" else _line_pattern(line) + r"\n" for line in _trimmed(shown).splitlines()
    ]
    return re.compile("".join(lines))


def _line_pattern(line: str) -> str:
    kept = [re.escape(part).replace("…", ".*") for part in _MEASURED.sub("\0", line).split("\0")]
    return r"(\d+\.\d+) ± \d+\.\d+".join(kept)


def _trimmed(text: str) -> str:
    return "".join(f"{line.rstrip()}\n" for line in text.strip("\n").splitlines())


def _parsed(text: str, place: str) -> Any:
    try:
        return json.loads(text, parse_float=Decimal)
    except json.JSONDecodeError:
        try:  # a page may show the members of an object without its braces
            return json.loads(f"{{{text}}}", parse_float=Decimal)
        except json.JSONDecodeError as error:
            raise AssertionError(f"{place}: {error} in {text[:300]}") from error


def _differences(shown: Any, printed: Any, where: str) -> Iterator[str]:
    if shown == "…":
        return
    if isinstance(shown, dict) and isinstance(printed, dict):
        for name, value in shown.items():
            if name in printed:
                yield from _differences(value, printed[name], f"{where}/{name}")
            else:
                yield f"{where}/{name} was not printed"
    elif isinstance(shown, list) and isinstance(printed, list):
        cut = bool(shown) and shown[-1] == "…"
        kept = shown[:-1] if cut else shown
        if len(kept) > len(printed) or (not cut and len(kept) != len(printed)):
            yield f"{where} has {len(printed)} entries"
        for index, (one, other) in enumerate(zip(kept, printed, strict=False)):
            yield from _differences(one, other, f"{where}/{index}")
    elif not _same(shown, printed):
        yield f"{where} is shown as {shown} and is {printed}"


def _same(shown: Any, printed: Any) -> bool:
    if isinstance(shown, Decimal) and isinstance(printed, Decimal | int):
        exponent = shown.as_tuple().exponent
        assert isinstance(exponent, int)
        return abs(shown - printed) <= Decimal(5).scaleb(exponent - 1)
    return bool(shown == printed)
