"""Tests marked `chaos` take long: only `make chaos`, which asks for the marker, runs them."""

import pytest


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if "chaos" in config.option.markexpr:
        return
    left_out = [item for item in items if item.get_closest_marker("chaos")]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]
