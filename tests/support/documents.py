"""The documents of the project, and what else may name a decision, a command or a make target."""

import importlib
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = (
    "app",
    "benchmarks",
    "clients",
    "deploy",
    "examples",
    "fedl_sim",
    "fedsift_launcher",
    "sampler",
    "solver",
    "tests",
)
PACKAGES = ("app", "fedl_sim", "fedsift_launcher", "sampler", "solver")
TEXTS = {".js", ".md", ".mk", ".py", ".sh", ".toml", ".ts", ".yaml"}
IN_CODE = re.compile(r"`([^`\n]+)`")
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def documents() -> list[Path]:
    """Every page that people write; tables in docs/results/ are written by commands."""
    pages = sorted((ROOT / "docs").rglob("*.md"))
    return [*sorted(ROOT.glob("*.md")), *(page for page in pages if "results" not in page.parts)]


def source_texts() -> list[Path]:
    """Every text file of the tree that is not a document."""
    found = [ROOT / "Makefile", ROOT / "Dockerfile", ROOT / "pyproject.toml", ROOT / ".ci" / "run"]
    for folder in SOURCES:
        found += (p for p in sorted((ROOT / folder).rglob("*")) if p.suffix in TEXTS and "node_modules" not in p.parts)
    return [path for path in found if path.is_file()]


def name_of(path: Path) -> str:
    """The file's path from the root of the project, as a test id shows it."""
    return path.relative_to(ROOT).as_posix()


def code_of(text: str) -> list[str]:
    """What a document sets as code: the lines of its blocks, and what stands between back ticks."""
    blocks = [line for block in FENCE.findall(text) for line in block.splitlines()[1:-1]]
    return blocks + IN_CODE.findall(FENCE.sub("", text))


def resolves(dotted: str) -> bool:
    """Whether it is a module, or a name in one."""
    parts = dotted.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        for name in parts[cut:]:
            if not hasattr(found, name):
                return False
            found = getattr(found, name)
        return True
    return False
