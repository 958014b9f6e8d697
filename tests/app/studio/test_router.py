"""The studio's files: served whole, under a strict policy, and part of the wheel."""

import re
import zipfile
from pathlib import Path

import httpx
from hatchling.builders.wheel import WheelBuilder

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "app" / "studio" / "static"


def names() -> list[str]:
    return sorted(str(path.relative_to(FOLDER).as_posix()) for path in FOLDER.rglob("*") if path.is_file())


def test_the_page_and_each_of_its_files_are_served(client: httpx.Client) -> None:
    page = client.get("/")
    assert page.headers["content-type"].startswith("text/html")
    places = re.findall(r'(?:src|href)="(/studio/[^"]+)"', page.text)
    assert len(places) > 20
    assert len(names()) > 20
    for name in names():
        answer = client.get(f"/studio/{name}")
        assert answer.status_code == 200
        if name != "index.html":
            assert answer.content == (FOLDER / name).read_bytes()
    for place in places:
        assert client.get(place).status_code == 200
    for outside in ("../../main.py", "..%2f..%2fmain.py", "nothing.js", ""):
        assert client.get(f"/studio/{outside}").status_code == 404


def test_the_policy_allows_this_server_alone(client: httpx.Client) -> None:
    for place in ("/", "/studio/main.js", "/studio/draw/layer.worker.js"):
        policy = client.get(place).headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert not re.search(r"https?:|\*|data:", policy)


def test_nothing_is_fetched_from_elsewhere() -> None:
    """The only address in the files is that of the SVG namespace."""
    for name in names():
        found = set(re.findall(r"""https?://[^\s"'`)<]+""", (FOLDER / name).read_text(encoding="utf-8")))
        assert found <= {"http://www.w3.org/2000/svg"}, name


def test_a_file_known_already_is_not_sent_again(client: httpx.Client) -> None:
    first = client.get("/studio/main.js")
    again = client.get("/studio/main.js", headers={"if-none-match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_every_import_leads_to_a_file() -> None:
    for name in names():
        if name.endswith(".js"):
            text = (FOLDER / name).read_text(encoding="utf-8")
            for place in re.findall(r'from "([^"]+)"', text):
                assert place.startswith(".")
                assert ((FOLDER / name).parent / place).is_file(), f"{name} imports {place}"


def test_the_wheel_has_every_file(tmp_path: Path) -> None:
    [wheel] = WheelBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"])
    packed = set(zipfile.ZipFile(wheel).namelist())
    assert {f"app/studio/static/{name}" for name in names()} <= packed
