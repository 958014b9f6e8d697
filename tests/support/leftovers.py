"""What tests start ends with the process that started it, also if that one is killed."""

import subprocess
import sys
from functools import cache
from typing import IO

__all__ = ["ends_with_this_process"]

# It reads to the end of its input, which comes with the end of the process that writes. A process of the same number
# that began at another moment is another one. SIGQUIT ends PostgreSQL at once, and SIGCONT wakes what is stopped.
_REAPER = """
import os, signal, sys

def began(pid):
    try:
        return open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[19]
    except OSError:
        return None

started = {pid: began(pid) for pid in map(int, iter(sys.stdin.readline, ""))}
for pid, at in started.items():
    if at is not None and began(pid) == at:
        os.kill(pid, signal.SIGQUIT)
        os.kill(pid, signal.SIGCONT)
"""


@cache
def _reaper() -> IO[bytes]:
    command = [sys.executable, "-c", _REAPER]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True)
    process.returncode = 0  # nobody waits for it: it ends after this process
    assert process.stdin is not None
    return process.stdin


def ends_with_this_process(process: "subprocess.Popen[bytes]") -> None:
    """Have this process ended when the current one is gone."""
    _reaper().write(f"{process.pid}\n".encode())
    _reaper().flush()
