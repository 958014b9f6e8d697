"""The settings, read from environment variables `FEDSIFT_*`."""

import json
import math
import os
import re
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, ValidationInfo, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from app.addresses import is_loopback, networks_of

__all__ = ["Settings", "settings_table"]

MEBIBYTE = 2**20
# RFC 9110's names of headers.
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")

# Each server process takes some tens of megabytes; more of them can be asked for.
_MOST_PROCESSES = 8


def _processors() -> int:
    """Processors that this process may use: of those that it may run on, what its container is granted."""
    may_run_on = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    with suppress(OSError, ValueError):
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text(encoding="ascii").split()
        return max(1, min(may_run_on, math.ceil(int(quota) / int(period))))
    return may_run_on


def _default_processes() -> int:
    return min(_processors(), _MOST_PROCESSES)


def _default_threads(given: dict[str, Any]) -> int:
    """A second thread lets small plans pass a long one."""
    processes = int(given.get("processes", 1))
    return _processors() if processes == 1 else max(2, math.ceil(_processors() / processes))


def _default_database() -> str:
    home = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    return f"sqlite:///{home}/fedsift/fedsift.db"


def _listed(value: object) -> object:
    """What a variable with a JSON list says."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        raise ValueError('should be a JSON list, like ["plans.example"]') from None


Names = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_listed)]


class Settings(BaseSettings):
    """The service's settings. Each field is the variable FEDSIFT_<NAME>."""

    model_config = SettingsConfigDict(env_prefix="FEDSIFT_", frozen=True)

    host: str = Field("127.0.0.1", description="Address to listen on.")
    port: int = Field(8000, ge=0, le=65535, description="Port to listen on.")
    processes: int = Field(
        default_factory=_default_processes,
        ge=1,
        le=256,
        description="Server processes. Limits hold for all of them together, unless they say otherwise.",
        json_schema_extra={"shown_default": f"number of processors, at most {_MOST_PROCESSES}"},
    )
    auth: Literal["auto", "required", "off"] = Field(
        "auto", description="Require API keys: `auto` means on every address except loopback, and behind a gateway."
    )
    gateway_addresses: Names = Field(
        (), description="Addresses and networks of the gateway, as a JSON list; beyond them its header is refused."
    )
    gateway_secret: str = Field(
        "", description="What the gateway sends in `X-Fedsift-Gateway-Secret`; without it its header is refused."
    )
    gateway_header: str = Field(
        "",
        description="Header in which a gateway names the owner, like `X-Forwarded-User`. It needs one or both of the "
        "settings before; none by default.",
        validate_default=True,
    )
    metrics: Literal["auto", "open", "key", "off"] = Field(
        "auto", description="Who may read `/metrics`: `auto` means everyone where no API key is required, else any key."
    )
    database_url: str = Field(
        default_factory=_default_database,
        description="The database: `sqlite:///path` or `postgresql://…`.",
        json_schema_extra={"shown_default": "sqlite:///$XDG_DATA_HOME/fedsift/fedsift.db"},
    )
    store_timeout: float = Field(
        5.0, ge=0.1, le=600, description="Seconds that the database may take to answer; then requests get 503."
    )
    threads: int = Field(
        default_factory=_default_threads,
        ge=1,
        le=256,
        description="Plans that a process solves at once.",
        json_schema_extra={"shown_default": "number of processors; 2 where each has a process"},
    )
    queue: int = Field(64, ge=0, description="Length of the request queue; further requests get 503.")
    key_concurrency: int = Field(32, ge=1, description="Requests in progress per API key; further requests get 429.")
    retry_after: int = Field(1, ge=1, description="Seconds in the header `Retry-After` of a 429 or 503.")
    memory_budget: int = Field(
        320 * MEBIBYTE,
        ge=MEBIBYTE,
        description="Bytes that all requests may need together, by estimate; beyond it 413 or 503.",
    )
    body_limit: int = Field(
        64 * MEBIBYTE, ge=1024, description="Largest JSON body in bytes, before and after decompression."
    )
    body_timeout: float = Field(30.0, gt=0, description="Seconds that a client may take to send its body.")
    connections: int = Field(
        512,
        ge=1,
        description="Open connections, divided among processes; beyond it the longest idle one is closed, or 503.",
    )
    head_limit: int = Field(64 * 1024, ge=1024, description="Largest request line with headers, in bytes.")
    head_timeout: float = Field(10.0, gt=0, description="Seconds that a client may take to send the headers.")
    idle_timeout: float = Field(30.0, gt=0, description="Seconds that a connection may be idle between two requests.")
    send_timeout: float = Field(
        30.0, gt=0, description="Seconds in which a client must read the next 256 KiB of an answer."
    )
    time_limit: float = Field(10.0, gt=0, description="Default time limit of a plan, in seconds.")
    max_time_limit: float = Field(60.0, gt=0, description="Largest time limit that a request may set, in seconds.")
    max_horizon: int = Field(10_000, ge=1, description="Largest number of steps of a plan.")
    max_reference_links: int = Field(
        10_000, ge=1, description="Most links into the sampled devices for `solver: cvxpy`."
    )
    comparison_rows: int = Field(1000, ge=1, description="Most rows of a comparison.")
    shutdown_grace: int = Field(30, ge=0, description="Seconds that accepted requests may take to finish at shutdown.")
    workers: int = Field(0, ge=0, le=256, description="Validation workers that `fedsift serve` starts.")
    worker_timeout: float = Field(
        10.0,
        ge=1,
        le=3600,
        description="Seconds without a heartbeat after which other workers take over a worker's parts.",
    )
    trainer_threads: int = Field(1, ge=1, le=256, description="Threads of a worker's training process.")
    scratch_dir: str = Field("", description="Folder for workers' checkpoint files; empty means the temporary folder.")
    data_dir: str = Field("", description="Folder with `mnist/` and `fashion-mnist/` for workers. `digits` needs none.")
    round_timeout: float = Field(3600.0, gt=0, description="Longest time of an aggregation round, in seconds.")
    round_attempts: int = Field(
        10,
        ge=1,
        description="Attempts at a round that end in a failure that the worker saw, before the validation fails.",
    )
    round_losses: int = Field(
        100, ge=1, description="Attempts at a round that are lost with their worker, before the validation fails."
    )
    validation_queue: int = Field(1000, ge=0, description="Validations that wait or run at once; further ones get 503.")
    key_validations: int = Field(
        100, ge=1, description="Validations that wait or run at once per API key; further ones get 429."
    )
    validation_parts: int = Field(1000, ge=1, description="Most parts (scheme × seed × draw) of a validation.")
    validation_rounds: int = Field(20_000, ge=1, description="Most aggregations of a validation, over all parts.")
    validation_devices: int = Field(10_000, ge=1, description="Most devices of a validation's network.")
    validation_datapoints: int = Field(5_000_000, ge=1, description="Most datapoints that a validation's devices hold.")
    validation_days: float = Field(30.0, gt=0, description="Days after which ended validations are removed.")
    validations_kept: int = Field(1000, ge=1, description="Ended validations kept per API key.")
    plan_days: float = Field(90.0, gt=0, description="Days after which kept plans are removed.")
    run_days: float = Field(90.0, gt=0, description="Days after the last aggregation at which runs are removed.")
    network_days: float = Field(
        365.0, gt=0, description="Days after its newest version at which a stored network is removed."
    )
    key_bytes: int = Field(
        1024 * MEBIBYTE,
        ge=1024,
        description="Bytes of plans, runs, validations and networks kept per API key; beyond it 507.",
    )
    disk_reserve: int = Field(
        256 * MEBIBYTE,
        ge=0,
        description="Bytes of a SQLite store's disk to leave free: with less nothing new is kept (507).",
    )
    webhook_targets: Names = Field(
        (),
        description="Hosts and networks, as a JSON list, that webhooks may call, such as `hooks.example` and "
        "`10.1.0.0/16`; none by default.",
    )
    webhook_days: float = Field(
        7.0, gt=0, description="Days for which a webhook's delivery is tried, and shown in its log."
    )
    key_days: float = Field(30.0, gt=0, description="Days after their expiry at which API keys are removed.")
    event_streams: int = Field(100, ge=0, description="Event streams; further ones get 503.")
    stream_seconds: float = Field(
        600.0, gt=0, description="Seconds after which an event stream ends; clients reconnect with `Last-Event-ID`."
    )
    allowed_hosts: Names = Field(
        (),
        description="Names, as a JSON list, that `Host` may have beside loopback's. Others get 421 on loopback without "
        "keys, and elsewhere if this is set.",
    )
    cors_origins: Names = Field((), description="Origins that browsers may call from (CORS); none by default.")
    otlp_endpoint: str = Field(
        "", description="OTLP/HTTP collector for traces, as `http://host:4318` (extra `telemetry`); none by default."
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="Least severe level that is logged."
    )
    log_format: Literal["auto", "text", "json"] = Field(
        "auto", description="Form of the logs: `auto` means lines for people on a terminal, and else JSON."
    )

    @field_validator("gateway_addresses")
    @classmethod
    def _are_networks(cls, listed: tuple[str, ...]) -> tuple[str, ...]:
        networks_of(listed)
        return listed

    @field_validator("gateway_header")
    @classmethod
    def _is_guarded(cls, header: str, info: ValidationInfo) -> str:
        """Whoever may name an owner has to be known, and whoever is known should do it."""
        guarded = info.data.get("gateway_addresses") or info.data.get("gateway_secret")
        if header and not _TOKEN.fullmatch(header):
            raise ValueError("should be the name of a header")
        if header and not guarded:
            raise ValueError("needs FEDSIFT_GATEWAY_ADDRESSES or FEDSIFT_GATEWAY_SECRET: anyone could send the header")
        if guarded and not header:
            raise ValueError("is missing: the gateway's address and secret are given without it")
        return header

    @property
    def needs_key(self) -> bool:
        """Whether callers must show an API key, or be named by a gateway."""
        exposed = bool(self.gateway_header) or not is_loopback(self.host)
        return self.auth == "required" or (self.auth == "auto" and exposed)

    @property
    def data_folder(self) -> Path:
        """Where workers look for the files of data sets."""
        return Path(self.data_dir or "data")

    @property
    def connections_of_a_process(self) -> int:
        """Connections are divided among processes, which take turns to accept them."""
        return -(-self.connections // self.processes)

    @property
    def metrics_access(self) -> Literal["open", "key", "off"]:
        """Who may read the metrics."""
        if self.metrics == "auto":
            return "key" if self.needs_key else "open"
        return self.metrics

    def export(self) -> None:
        """Put the settings that were given into the environment, where the server's processes read them."""
        for name in self.model_fields_set:
            if not isinstance(value := getattr(self, name), tuple):  # lists come from the environment alone
                os.environ[f"FEDSIFT_{name.upper()}"] = str(value)


def settings_table() -> str:
    """The settings as a Markdown table, for the documentation."""
    rows = ["| variable | default | meaning |", "|---|---|---|"]
    for name, field in Settings.model_fields.items():
        extra = field.json_schema_extra
        shown = extra.get("shown_default") if isinstance(extra, dict) else None
        default = shown or (field.default if field.default not in {(), ""} else "none")
        rows.append(f"| `FEDSIFT_{name.upper()}` | `{default}` | {field.description} |")
    return "\n".join(rows)
