"""deploy/gateway/nginx.conf with a real nginx, a real service, and a small program in oauth2-proxy's place."""

import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest

from tests.support.command import make_key
from tests.support.requests import random_request
from tests.support.server import free_port, running_server

CONFIGURATION = Path(__file__).parents[2] / "deploy" / "gateway" / "nginx.conf"
NGINX = shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin")
WRAPPED = """
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/bodies;
    proxy_temp_path {folder}/proxied;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
{inner}
}}
"""

pytestmark = pytest.mark.skipif(NGINX is None, reason="nginx is not installed")


class SignedOn(BaseHTTPRequestHandler):
    """Answers as oauth2-proxy does: 202 with the user whom the cookie names, else 401."""

    def do_GET(self) -> None:
        name = self.headers.get("Cookie", "").removeprefix("signed-on=")
        self.send_response(202 if name and self.path == "/oauth2/auth" else 401)
        if name:
            self.send_header("X-Auth-Request-Email", name)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Nothing."""


@contextmanager
def gateway(folder: Path, service: str) -> Iterator[tuple[httpx.Client, httpx.Client]]:
    """Clients for people and for programs with keys, each through nginx."""
    identity = ThreadingHTTPServer(("127.0.0.1", 0), SignedOn)
    threading.Thread(target=identity.serve_forever, daemon=True).start()
    people, programs = free_port(), free_port()
    inner = CONFIGURATION.read_text(encoding="utf-8")
    for written, here in (
        ("127.0.0.1:8000", service.removeprefix("http://")),
        ("127.0.0.1:8080", f"127.0.0.1:{people}"),
        ("127.0.0.1:8081", f"127.0.0.1:{programs}"),
        ("127.0.0.1:4180", f"127.0.0.1:{identity.server_port}"),
    ):
        assert written in inner
        inner = inner.replace(written, here)
    (folder / "nginx.conf").write_text(WRAPPED.format(folder=folder, inner=inner), encoding="utf-8")
    process = subprocess.Popen([str(NGINX), "-p", str(folder), "-c", str(folder / "nginx.conf")])
    clients: list[httpx.Client] = []
    try:
        clients += [httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) for port in (people, programs)]
        for _ in range(200):
            try:
                clients[0].get("/metrics")
                break
            except httpx.ConnectError:
                assert process.poll() is None, (folder / "error.log").read_text()
                time.sleep(0.05)
        yield clients[0], clients[1]
    finally:
        for client in clients:
            client.close()
        process.terminate()
        process.wait(30)
        identity.shutdown()
        identity.server_close()


def test_the_configuration_of_the_documentation_passes_owners_on(tmp_path: Path) -> None:
    settings = {
        "gateway_header": "X-Forwarded-User",
        "gateway_addresses": '["127.0.0.1"]',
        "gateway_secret": "change-me",
        "allowed_hosts": '["plans.example"]',
    }
    key = {"x-api-key": make_key(tmp_path, "program")["key"]}
    with (
        running_server(tmp_path, **settings) as server,
        gateway(tmp_path, server.url) as (people, programs),
        server.client() as direct,
    ):
        anna, ben = {"cookie": "signed-on=anna@example.org"}, {"cookie": "signed-on=ben@example.org"}
        assert people.get("/v1/runs").status_code == 401
        assert people.get("/").status_code == 302
        assert "<html" in people.get("/", headers=anna).text
        assert people.get("/metrics", headers=anna).status_code == 404
        run = people.post("/v1/runs", json=random_request(1, 8), headers=anna).raise_for_status().headers["location"]
        assert people.get(run, headers=anna).status_code == 200
        assert people.get(run, headers=ben).status_code == 404
        # What a client says of itself is replaced by what the gateway knows, or removed.
        assert people.get(run, headers=ben | {"x-forwarded-user": "anna@example.org"} | key).status_code == 404
        forged = {"x-forwarded-user": "anna@example.org", "x-fedsift-gateway-secret": "change-me"}
        assert programs.get(run, headers=forged | key).status_code == 404
        assert programs.get("/v1/runs", headers=forged).status_code == 401
        assert programs.get("/v1/runs", headers=key).status_code == 200
        # Beside the gateway, from an address that could be its own: the secret is missing.
        assert direct.get(run, headers={"x-forwarded-user": "anna@example.org"}).status_code == 403
