"""Images for several platforms, and the pinned base image: small ones, from a registry on this machine."""

import json
import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.support.image_scripts import load

pytestmark = [pytest.mark.image, pytest.mark.xdist_group("image")]


class Registry(BaseHTTPRequestHandler):
    """Serves one OCI layout as any repository: every tag is its only image."""

    layout: Path
    top: str

    def do_GET(self) -> None:
        """A manifest or a blob."""
        *_, kind, name = self.path.partition("?")[0].rstrip("/").split("/")
        digest = name if name.startswith("sha256:") else self.top
        path = self.layout / "blobs" / "sha256" / digest.removeprefix("sha256:")
        content = b"" if name == "v2" else path.read_bytes()
        self.send_response(200)
        if kind == "manifests":
            index = b'"manifests"' in content
            self.send_header("Content-Type", f"application/vnd.oci.image.{'index' if index else 'manifest'}.v1+json")
        self.send_header("Docker-Content-Digest", digest)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content)

    do_HEAD = do_GET  # noqa: N815 - the name that http.server looks for

    def log_message(self, *_: object) -> None:
        """Nothing."""


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    if not os.environ.get("FEDSIFT_TEST_IMAGE"):
        pytest.skip("needs a container engine: `make image-test`")
    if not shutil.which("buildah"):
        pytest.skip("needs buildah")
    sources = tmp_path / "sources"
    sources.mkdir()
    (sources / "pyproject.toml").write_text('[project]\nversion = "7.8"\n')
    (sources / "file").write_text("content")
    (sources / "Dockerfile").write_text(
        "ARG BASE_IMAGE\nFROM $BASE_IMAGE AS serve\nCOPY file /serve\nFROM $BASE_IMAGE AS worker\nCOPY file /worker\n"
    )
    module = load("engine")
    monkeypatch.setattr(module, "SOURCES", sources)
    monkeypatch.setattr(module, "NAME", "localhost/small")
    monkeypatch.setattr(module, "BASE_TOOL", "")
    monkeypatch.setattr(module, "DIGEST", tmp_path / "base.digest")
    with tempfile.TemporaryDirectory() as store:  # podman wants a short path
        monkeypatch.setenv("FEDSIFT_IMAGE_STORE", store)
        yield module


@pytest.fixture
def base(engine: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The digest of a base image for both platforms, which a registry has under the tag of the real one."""
    context = tmp_path / "base"
    context.mkdir()
    (context / "system").write_text("content")
    (context / "Dockerfile").write_text("FROM scratch\nCOPY system /system\n")
    made = engine.find_engine()
    platforms = ("--platform", "linux/amd64,linux/arm64", "--manifest", "localhost/base:tag")
    call(*made.builder, "--isolation", "chroot", *platforms, str(context))
    call(*made.runner, "manifest", "push", "--all", "localhost/base:tag", f"oci:{tmp_path}/layout")
    (top,) = json.loads((tmp_path / "layout" / "index.json").read_text())["manifests"]
    handler = type("Handler", (Registry,), {"layout": tmp_path / "layout", "top": top["digest"]})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        place = f"127.0.0.1:{server.server_address[1]}"
        settings = tmp_path / "registries.conf"
        settings.write_text(f'[[registry]]\nlocation = "{place}"\ninsecure = true\n')
        monkeypatch.setenv("CONTAINERS_REGISTRIES_CONF", str(settings))
        monkeypatch.setattr(engine, "TAGGED_BASE", f"{place}/library/python:tag")
        yield top["digest"]
        server.shutdown()


def call(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_pinned_digest_is_that_of_all_platforms(engine: Any, base: str) -> None:
    engine.find_engine().pin_base()
    assert engine.DIGEST.read_text() == base + "\n"


def test_both_images_are_built_for_both_platforms_beside_those_of_this_one(
    engine: Any, base: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "BASE", f"{engine.TAGGED_BASE.removesuffix(':tag')}@{base}")
    made = engine.find_engine()
    for _ in range(2):  # nothing of the first time stands in the way
        made.fetch_base()
        for target in engine.TARGETS:
            made.build(target)
            made.build_all_platforms(target)
    for target in engine.TARGETS:
        found = json.loads(call(*made.runner, "manifest", "inspect", f"localhost/small:7.8-{target}-multiarch"))
        assert {one["platform"]["architecture"] for one in found["manifests"]} == {"amd64", "arm64"}
        (here,) = json.loads(call(*made.runner, "image", "inspect", f"localhost/small:7.8-{target}"))
        assert (
            here["Architecture"] == json.loads(call(*made.runner, "image", "inspect", engine.BASE))[0]["Architecture"]
        )
        assert here["Architecture"] == {"x86_64": "amd64", "aarch64": "arm64"}[os.uname().machine]


def test_a_base_image_that_a_tool_made_is_of_one_platform(engine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "BASE_TOOL", "tool")
    with pytest.raises(SystemExit, match="of this platform alone"):
        engine.find_engine().build_all_platforms("serve")
