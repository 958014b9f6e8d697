"""How the compared schemes appear in tables and figures."""

from fedl_sim.loop.loop import RunSettings
from fedl_sim.network.realisation import RealisationSettings
from fedl_sim.reproduce.cell import Cell, run_cell
from fedl_sim.reproduce.compared import (
    AGAIN,
    FIGURE_SCHEMES,
    TABLE_SCHEMES,
    arm_named,
    cells_of,
    colour_of,
    label_of,
    moves_data,
)
from sampler.schemes import EVERYONE


def test_every_scheme_of_the_tables_has_a_label_of_its_own() -> None:
    labels = [label_of(scheme) for scheme in (*TABLE_SCHEMES, EVERYONE)]
    assert len(set(labels)) == len(labels)
    assert label_of("local_search") == "local_search"


def test_an_a_a_row_is_the_same_method_on_the_same_network_with_other_random_numbers() -> None:
    cell = Cell("digits", "random", 3, realisation=RealisationSettings(n_devices=12), run=RunSettings(3, 2))
    ours, again = (run_cell(one) for one in cells_of(cell, schemes=("ours-offload", AGAIN), seeds=(3,)))
    assert arm_named(AGAIN).scheme == "ours-offload"
    assert (again.seed, again.sampled) == (ours.seed, ours.sampled)
    assert again.aggregations[-1].loss != ours.aggregations[-1].loss


def test_schemes_without_offloading_come_first() -> None:
    moving = [moves_data(scheme) for scheme in TABLE_SCHEMES]
    assert moving == sorted(moving)
    assert sum(moving) == 8


def test_colour_and_line_tell_every_curve_of_a_figure_apart() -> None:
    looks = [(colour_of(scheme), moves_data(scheme)) for scheme in FIGURE_SCHEMES]
    assert len(set(looks)) == len(looks)
    assert colour_of("ours") == colour_of("ours-offload")
    assert colour_of(EVERYONE) == "black"
