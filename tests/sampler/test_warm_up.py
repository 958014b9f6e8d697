"""What is compiled ahead: all that serving calls, once, and of it first what a plan with the default sampler needs."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sampler import served_samplers
from tests.support.kernels import compile_kernels
from tests.support.waiting import PATIENCE

README = Path(__file__).parents[2] / "README.md"

# In a process of its own, since other tests compile what they please. A kernel gets a signature when it is compiled,
# and when its code is loaded from disk.
PROGRAM = """
import json, sys
from app.main import create_app
from app.plans.planning import make_plan
from app.plans.request import PlanRequest
from app.settings import Settings
from numba.core.dispatcher import Dispatcher
from solver import warm_up as parts
from sampler.warm_up import warm_up_first, warm_up_rest
from solver.kernels.compile import count_missing

def kernels():
    # As modules outside of the kernels see them: what they call, the interpreter calls.
    return {
        f"{value.py_func.__module__}.{value.py_func.__name__}": len(value.signatures)
        for name, module in list(sys.modules.items()) if name.startswith(("app.", "sampler.", "solver."))
        and ".kernels." not in name and not name.endswith("warm_up")
        for value in vars(module).values() if isinstance(value, Dispatcher)
    }

def plan(**changes):
    make_plan(PlanRequest.model_validate({**request, **changes}).to_domain(Settings.model_construct()))

request, samplers = json.load(sys.stdin)
found = {}
warm_up_first()
found["first"] = kernels()
plan()
found["planned"] = kernels()
warm_up_rest()
found["all"] = kernels()
for sampler in samplers:
    plan(sampler=sampler)
    plan(sampler=sampler, time_limit=60)
plan(transfer="send_once")
plan(planning="horizon")
found["served"] = kernels()
found["missing"] = count_missing()
for compile_part in (parts.compile_iterations, parts.compile_ends, parts.compile_bound):
    compile_part()
found["on disk"] = {
    name: [processor for _, processor, _ in value._cache._cache_file._load_index()].count(
        value.targetctx.codegen().magic_tuple()
    )
    for name, value in vars(parts).items() if isinstance(value, Dispatcher)
}
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    """How many signatures each kernel has after each part of the warm-up, and after plans."""
    shown = re.search(r"-d '(\{.*?\n\})'", README.read_text(encoding="utf-8"), re.DOTALL)
    assert shown is not None
    asked = json.dumps([json.loads(shown[1]), list(served_samplers())])
    compile_kernels()
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], input=asked, capture_output=True, text=True, check=False, timeout=PATIENCE
    )
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def test_the_first_part_has_all_that_the_readmes_plan_needs(found: dict[str, Any]) -> None:
    assert found["planned"] == found["first"]
    assert sum(found["first"].values()) < sum(found["all"].values())


def test_no_plan_of_any_sampler_needs_more_than_the_whole_warm_up(found: dict[str, Any]) -> None:
    assert found["served"] == found["all"]


def test_every_kernel_is_compiled_and_only_once(found: dict[str, Any]) -> None:
    # The interpreter calls `carry` only after the reference solver has helped; compiled code calls it in every plan.
    found["all"].pop("solver.kernels.horizon.carry")
    assert {name: n for name, n in found["all"].items() if n != 1} == {}
    assert found["missing"] == 0


def test_parts_that_processes_share_are_called_with_the_types_of_their_callers(found: dict[str, Any]) -> None:
    assert len(found["on disk"]) > 5
    assert {name: n for name, n in found["on disk"].items() if n != 1} == {}
