"""Containers of the built images, run as an orchestrator with strict rules would."""

import os
import secrets
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["IMAGE", "Containers"]

IMAGE = os.environ.get("FEDSIFT_IMAGE", "localhost/fedsift")


@dataclass
class Containers:
    """Starts containers that may write to one volume alone; ends and removes what it started."""

    runner: list[str]
    options: list[str]
    volume: str = field(default_factory=lambda: f"fedsift-{secrets.token_hex(6)}")
    # No user has this number, and the next test run has another.
    user: int = field(default_factory=lambda: 20_000 + secrets.randbelow(1_000_000))
    started: list[str] = field(default_factory=list)

    def call(self, *command: str, check: bool = True) -> str:
        """A command of the engine; what it prints, or its exit status where that may be other than 0."""
        done = subprocess.run([*self.runner, *command], capture_output=True, text=True, check=False, timeout=300)
        if not check:
            return str(done.returncode)
        assert done.returncode == 0, f"{command}: {done.stdout[-3000:]} {done.stderr[-3000:]}"
        return done.stdout.strip()

    def run(self, target: str, *words: str, mode: str = "--rm", entrypoint: str = "", **settings: str) -> str:
        """Run to the end, or with the mode `--detach` start, a container of the target with these settings."""
        strict = ["--read-only", "--cap-drop=all", "--security-opt=no-new-privileges", f"--user={self.user}:0"]
        if self.runner[0] == "podman":
            # Not even the temporary folders that podman adds; checks are run by hand, since timers need systemd.
            strict += ["--read-only-tmpfs=false", "--health-interval=disable"]
        given = [f"--env=FEDSIFT_{name.upper()}={value}" for name, value in settings.items()]
        other = [f"--entrypoint={entrypoint}"] if entrypoint else []
        place = [f"--volume={self.volume}:/data", *other, f"{IMAGE}:{target}", *words]
        said = self.call("run", mode, *self.options, *strict, *given, *place)
        if mode == "--detach":
            self.started.append(said)
        return said

    def is_healthy(self, container: str) -> bool:
        """What the image's health check says now."""
        if self.runner[0] == "podman":
            return self.call("healthcheck", "run", container, check=False) == "0"
        return self.call("inspect", "--format", "{{.State.Health.Status}}", container) == "healthy"

    def processor_seconds(self, container: str) -> float:
        """What the container's first process has used so far, all its threads together."""
        process = self.call("inspect", "--format", "{{.State.Pid}}", container)
        fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self, container: str) -> int:
        """Ask it to end, and give its exit status."""
        self.call("stop", "--time", "30", container)
        return int(self.call("inspect", "--format", "{{.State.ExitCode}}", container))

    def clean_up(self) -> None:
        for container in self.started:
            self.call("rm", "--force", container)
        self.call("volume", "rm", self.volume, check=False)
