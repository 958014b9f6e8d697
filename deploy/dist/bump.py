"""Give the next release its version: `python bump.py 0.2.0`.

pyproject.toml has the version. The client, the manifests and the changelog name it too, so this changes all of them; tests
hold them to each other.
"""

import re
import sys
import tomllib
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).parents[2]
# Each file, and how it names the version.
PLACES = {
    "pyproject.toml": 'version = "{}"',
    "clients/python/pyproject.toml": 'version = "{}"',
    "deploy/compose.yaml": ":{}-",
    "deploy/kubernetes/base/kustomization.yaml": "newTag: {}-",
}


def bump(root: Path, new: str) -> list[str]:
    """Change every place; the places that were changed."""
    if not re.fullmatch(r"\d+\.\d+\.\d+", new):
        raise SystemExit(f"{new} is no version like 1.2.3")
    old = str(tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"])
    for name, form in PLACES.items():
        text = (root / name).read_text(encoding="utf-8")
        if form.format(old) not in text:
            raise SystemExit(f"{name} does not name {old}")
        (root / name).write_text(text.replace(form.format(old), form.format(new)), encoding="utf-8")
    changelog = root / "CHANGELOG.md"
    heading = f"## [Unreleased]\n\n## [{new}] - {datetime.now(UTC):%Y-%m-%d}\n"
    text = changelog.read_text(encoding="utf-8")
    changelog.write_text(text.replace("## [Unreleased]\n", heading, 1), encoding="utf-8")
    return [*PLACES, "CHANGELOG.md"]


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    sys.stdout.write("\n".join(bump(ROOT, sys.argv[1])) + "\n")
