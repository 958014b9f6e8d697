"""What strangers can see or reach, and a replay."""

import socket

from benchmarks.chaos.exchange import PLAN, ask, submit, validation, wait_for
from benchmarks.chaos.processes import environment_of
from benchmarks.chaos.scenario import Outcome, scenario
from benchmarks.chaos.site import Site
from fedl_sim.contract import DATA_FILES


@scenario(
    "foreign-host",
    "a page of a foreign name, bound to 127.0.0.1, asks the service (DNS rebinding)",
    "the request is refused",
)
def foreign_host(site: Site) -> Outcome:
    """The browser sends the foreign name in Host."""
    with site.service(site.sqlite().url) as service:
        foreign, _ = ask(service, "GET", "/v1/runs", headers={"Host": "evil.example"})
        own, _ = ask(service, "GET", "/v1/runs", headers={"Host": f"localhost:{service.port}"})
    return Outcome(f"foreign name {foreign}, localhost {own}", 400 <= foreign < 500 and own == 200)


@scenario(
    "open-metrics",
    "somebody without a key asks a public address for /metrics",
    "the request is refused",
)
def open_metrics(site: Site) -> Outcome:
    """Metrics tell how much is computed for whom."""
    with site.service_with_key(site.sqlite().url, host="0.0.0.0") as service:  # noqa: S104 - a public bind is the point
        with_key, _ = ask(service, "GET", "/metrics")
        service.key = ""
        without, _ = ask(service, "GET", "/metrics")
    return Outcome(f"without a key {without}, with one {with_key}", without in {401, 403, 404} and with_key == 200)


@scenario(
    "replay-after-deletion",
    "a validation of a kept plan is sent again after the plan was deleted",
    "the replay returns the validation",
)
def replay(site: Site) -> Outcome:
    """The answer is stored and does not depend on the plan any more."""
    body = {"source": {"kind": "plan", "id": ""}, "schemes": ["plan"], "seeds": [0]}
    with site.service(site.sqlite().url) as service, service.client() as client:
        plan = client.post("/v1/plans", json=PLAN | {"keep": True}).json()["id"]
        body["source"] = {"kind": "plan", "id": plan}
        headers = {"Idempotency-Key": "once"}
        first = client.post("/v1/validations", json=body, headers=headers)
        client.delete(f"/v1/plans/{plan}")
        second = client.post("/v1/validations", json=body, headers=headers)
    same = second.is_success and second.json()["id"] == first.json()["id"]
    return Outcome(f"first {first.status_code}, replay {second.status_code}", same)


@scenario(
    "trainer-environment",
    "the training process and its environment",
    "it does not have the address and password of the database",
)
def trainer_environment(site: Site) -> Outcome:
    """It trains and needs no database."""
    with site.service(site.sqlite().url, workers="1") as service:
        names = [name for pid in service.trainers() for name in environment_of(pid)]
    found = "FEDSIFT_DATABASE_URL" in names
    return Outcome("it has the database's address" if found else "it has not", not found)


@scenario(
    "paths-in-failures",
    "a validation fails because its data set is damaged",
    "the reason names no path of the server",
)
def paths_in_failures(site: Site) -> Outcome:
    """The data set is named, its folder is not."""
    data = site.folder / "data"
    (data / "mnist").mkdir(parents=True)
    for file in DATA_FILES:
        (data / "mnist" / file).write_bytes(b"no images")
    with site.service(site.sqlite().url, workers="1", data_dir=str(data)) as service:
        body = {**validation(0, schemes=("random",)), "data_set": "mnist"}
        found = wait_for(service, submit(service, body))
    detail = str(found.get("failure", {}).get("detail", ""))
    shown = str(site.folder) in detail or socket.gethostname() in detail
    words = "the path is shown" if shown else f'"{detail[:80]}"'
    return Outcome(f"{found['state']}: {words}", found["state"] == "failed" and not shown)
