"""The contract stands on the standard library, both sides share its names, and importing it loads nothing else."""

import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args

import pytest

from app.validations.request import GeneratorSource, ValidationRequest
from fedl_sim import contract
from fedl_sim.contract.network import DeviceColumns, GeneratorSettings, LinkColumns
from fedl_sim.data import datasets
from fedl_sim.engines.models import model_for
from fedl_sim.network import profiles, topology
from fedl_sim.network.realisation import RealisationSettings
from solver.horizon.transfer import TRANSFERS
from solver.network import DEVICE_COLUMNS, Links

ROOT = Path(contract.__file__).parents[2]


def test_it_loads_in_an_interpreter_that_has_the_standard_library_alone() -> None:
    script = (
        f"import sys; sys.path.append({str(ROOT)!r}); import fedl_sim.contract; "
        "print(sorted(m for m in sys.modules if m.split('.')[0] in ('app', 'fedl_sim', 'sampler', 'solver') "
        "and not m.startswith('fedl_sim.contract')))"
    )
    done = subprocess.run([sys.executable, "-I", "-S", "-c", script], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "['fedl_sim']", done.stderr


@pytest.mark.parametrize("entry", ["app.main", "app.worker.main"])
def test_the_service_and_the_worker_load_the_contract_and_nothing_else_of_the_simulator(entry: str) -> None:
    script = (
        f"import {entry}, sys; "
        "print(sorted(m for m in sys.modules if m.startswith(('fedl_sim', 'torch')) "
        "and not m.startswith('fedl_sim.contract')))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['fedl_sim']"


def choices(model: Any, name: str) -> tuple[str, ...]:
    """The values of a field that pydantic needs to see as a Literal."""
    annotation = model.model_fields[name].annotation
    members = [one for one in get_args(annotation) if one is not type(None)]
    return get_args(members[0]) or tuple(members)


def test_callers_are_offered_exactly_the_names_of_the_contract() -> None:
    assert choices(ValidationRequest, "data_set") == contract.DATA_SETS
    assert choices(ValidationRequest, "model") == contract.MODELS
    assert choices(GeneratorSource, "topology") == contract.TOPOLOGIES
    assert choices(GeneratorSource, "budget") == contract.BUDGETS


def test_the_simulator_knows_exactly_the_names_of_the_contract() -> None:
    assert datasets.DATA_SETS is contract.DATA_SETS
    assert topology.RANDOM_TOPOLOGIES is contract.TOPOLOGIES
    assert tuple(profiles.BUDGETS) == contract.BUDGETS
    assert TRANSFERS == contract.TRANSFERS
    for name in contract.MODELS:
        model_for(name, 8, 10)
    with pytest.raises(ValueError, match=f"known: {', '.join(contract.MODELS)}"):
        model_for("transformer", 8, 10)


def test_a_drawn_network_has_the_simulators_own_defaults() -> None:
    ours, theirs = GeneratorSettings(100), RealisationSettings(100)
    for field in fields(GeneratorSettings):
        assert getattr(ours, field.name) == getattr(theirs, field.name), field.name


def test_columns_have_the_solvers_names() -> None:
    assert tuple(field.name for field in fields(DeviceColumns)) == (*DEVICE_COLUMNS, "label_counts")
    assert {field.name for field in fields(LinkColumns)} == {field.name for field in fields(Links)}
