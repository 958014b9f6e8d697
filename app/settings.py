"""Everything that can be set from outside, by environment variables `FEDSIFT_*`."""

import os
from ipaddress import ip_address
from pathlib import Path
from typing import Literal

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

__all__ = ["Settings", "is_loopback", "settings_table"]

MEBIBYTE = 2**20


def _default_database() -> str:
    home = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    return f"sqlite:///{home}/fedsift/fedsift.db"


class Settings(BaseSettings):
    """The service's settings. Each field is the variable FEDSIFT_<NAME>."""

    model_config = SettingsConfigDict(env_prefix="FEDSIFT_", frozen=True)

    host: str = Field("127.0.0.1", description="Address to listen on.")
    port: int = Field(8000, ge=0, le=65535, description="Port to listen on.")
    processes: int = Field(1, ge=1, le=256, description="Server processes; they share the database.")
    auth: Literal["auto", "required", "off"] = Field(
        "auto", description="Ask for API keys: `auto` means on every address but loopback."
    )
    database_url: str = Field(
        default_factory=_default_database,
        description="Where runs and keys live: `sqlite:///path` or `postgresql://…`.",
        json_schema_extra={"shown_default": "sqlite:///$XDG_DATA_HOME/fedsift/fedsift.db"},
    )
    threads: int = Field(
        default_factory=lambda: os.cpu_count() or 1,
        ge=1,
        le=256,
        description="Plans solved at once in a process.",
        json_schema_extra={"shown_default": "number of processors"},
    )
    queue: int = Field(64, ge=0, description="Accepted requests that may wait for a thread; more get 503.")
    key_concurrency: int = Field(32, ge=1, description="Requests an API key may have under way; more get 429.")
    retry_after: int = Field(1, ge=1, description="Seconds that `Retry-After` tells a rejected caller.")
    body_limit: int = Field(64 * MEBIBYTE, ge=1024, description="Bytes of a request body, compressed or not.")
    binary_limit: int = Field(512 * MEBIBYTE, ge=1024, description="Bytes of a binary request body, compressed or not.")
    body_budget: int = Field(
        1024 * MEBIBYTE, ge=1024, description="Bytes of all bodies under way in a process; more get 503."
    )
    body_timeout: float = Field(30.0, gt=0, description="Seconds a client has to send its body.")
    time_limit: float = Field(10.0, gt=0, description="Seconds a solve may take if the request says nothing.")
    max_time_limit: float = Field(60.0, gt=0, description="The most seconds a request may ask for.")
    max_devices: int = Field(2_000_000, ge=1, description="Devices of a network.")
    max_horizon: int = Field(10_000, ge=1, description="Steps of a plan.")
    max_answer_numbers: int = Field(
        20_000_000, ge=1000, description="Numbers in an answer (transfers × 4, or N² × steps for matrices)."
    )
    max_reference_links: int = Field(
        20_000, ge=1, description="Links into the sampled devices up to which `cvxpy` may be asked for."
    )
    shutdown_grace: int = Field(30, ge=0, description="Seconds that accepted requests have to finish at shutdown.")
    workers: int = Field(0, ge=0, le=256, description="Validation workers that `fedsift serve` keeps beside it.")
    worker_timeout: float = Field(
        10.0, ge=1, le=3600, description="Seconds without a heartbeat after which a worker's parts are taken over."
    )
    trainer_threads: int = Field(1, ge=1, le=256, description="Threads that a worker trains with.")
    scratch_dir: str = Field("", description="Where workers write checkpoints; empty means the temporary folder.")
    data_dir: str = Field("", description="Folder with `mnist/` and `fashion-mnist/` for workers; digits need none.")
    round_timeout: float = Field(3600.0, gt=0, description="Seconds an aggregation round may take.")
    round_attempts: int = Field(10, ge=1, description="Times a round is begun before its validation fails.")
    validation_queue: int = Field(1000, ge=0, description="Validations that may wait or run; more get 503.")
    key_validations: int = Field(100, ge=1, description="Validations an API key may have waiting or running; else 429.")
    validation_parts: int = Field(1000, ge=1, description="Parts (scheme × seed × draw) of a validation.")
    validation_rounds: int = Field(20_000, ge=1, description="Aggregations of a validation, all parts together.")
    validation_devices: int = Field(10_000, ge=1, description="Devices of a validation's network.")
    validation_datapoints: int = Field(5_000_000, ge=1, description="Datapoints that a validation's devices hold.")
    validation_days: float = Field(30.0, gt=0, description="Days that ended validations are kept.")
    validations_kept: int = Field(1000, ge=1, description="Ended validations of an API key that are kept.")
    plans_kept: int = Field(1000, ge=1, description="Plans of an API key that are kept for it; the oldest go first.")
    event_streams: int = Field(100, ge=0, description="Followers of events in a process; more get 503.")
    stream_seconds: float = Field(
        600.0, gt=0, description="Seconds after which a follower of events is sent away, to come back where it was."
    )
    cors_origins: tuple[str, ...] = Field((), description="Origins that browsers may call from; none by default.")
    otlp_endpoint: str = Field(
        "", description="OTLP/HTTP collector for traces, as `http://host:4318` (extra `telemetry`); none by default."
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field("info", description="What to log.")

    @property
    def needs_key(self) -> bool:
        """Whether callers must show an API key."""
        return self.auth == "required" or (self.auth == "auto" and not is_loopback(self.host))

    def export(self) -> None:
        """Put what was set into the environment, where the server's processes find it."""
        for name in self.model_fields_set - {"cors_origins"}:
            os.environ[f"FEDSIFT_{name.upper()}"] = str(getattr(self, name))


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the address."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def settings_table() -> str:
    """The settings as a Markdown table, for the documentation."""
    rows = ["| variable | default | meaning |", "|---|---|---|"]
    for name, field in Settings.model_fields.items():
        extra = field.json_schema_extra
        shown = extra.get("shown_default") if isinstance(extra, dict) else None
        default = shown or (field.default if field.default not in {(), ""} else "none")
        rows.append(f"| `FEDSIFT_{name.upper()}` | `{default}` | {field.description} |")
    return "\n".join(rows)
