import json
from pathlib import Path

import pytest

from fedl_sim.labels.settings import Family

# Networks so small that labelling a hundred of them takes a second or two.
TINY = {"n_devices": 6, "aggregations": 1, "aggregation_period": 2, "mean_datapoints": 12.0}


@pytest.fixture
def tiny() -> Family:
    return Family.from_lists(Family().to_lists() | TINY)


@pytest.fixture
def arguments(tmp_path: Path) -> list[str]:
    """A small `fedsift train`, without the folders."""
    return [
        *("train", "--sizes", "3", "--general-sizes", "2,3", "--held-out", "2", "--epochs", "10"),
        *("--family", json.dumps(TINY)),
    ]
