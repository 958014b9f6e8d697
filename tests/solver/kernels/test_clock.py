import os
import subprocess
import sys

SCRIPT = """
from solver.fast import effort_for
from solver.kernels.clock import is_over
print(is_over(effort_for(1e-8, 1000.0)), is_over(effort_for(1e-8, 0.0)), is_over(effort_for(1e-8)))
"""


def test_the_clock_works_without_compiled_code() -> None:
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    run = subprocess.run([sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["False", "True", "False"]
