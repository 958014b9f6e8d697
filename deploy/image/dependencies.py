"""Print the project's requirements, one a line: `python dependencies.py pyproject.toml [EXTRA ...]`.

The image build installs them before it copies the sources, so that a change of the sources does not install everything
again.
"""

import sys
import tomllib
from pathlib import Path


def requirements(project: dict[str, object], extras: list[str]) -> list[str]:
    """The project's requirements with those of its extras; an extra that names another of ours is followed."""
    name, optional = project["name"], project["optional-dependencies"]
    assert isinstance(optional, dict)  # noqa: S101 - what pyproject.toml says
    found = list(project["dependencies"])  # type: ignore[call-overload]
    waiting = list(extras)
    while waiting:
        for line in optional[waiting.pop()]:
            if line.startswith(f"{name}["):
                waiting += line.removeprefix(f"{name}[").removesuffix("]").split(",")
            else:
                found.append(line)
    return sorted(found)


if __name__ == "__main__":
    document = tomllib.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    sys.stdout.write("\n".join(requirements(document["project"], sys.argv[2:])) + "\n")
