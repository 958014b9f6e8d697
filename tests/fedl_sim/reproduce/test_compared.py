"""How the compared schemes appear in tables and figures."""

from fedl_sim.reproduce.compared import FIGURE_SCHEMES, LABELS, TABLE_SCHEMES, colour_of, label_of, moves_data
from sampler.schemes import EVERYONE


def test_every_scheme_of_the_tables_has_a_label_of_its_own() -> None:
    labels = [label_of(scheme) for scheme in (*TABLE_SCHEMES, EVERYONE)]
    assert len(set(labels)) == len(labels)
    assert set(TABLE_SCHEMES) < set(LABELS)
    assert label_of("local_search") == "local_search"


def test_schemes_without_offloading_come_first() -> None:
    moving = [moves_data(scheme) for scheme in TABLE_SCHEMES]
    assert moving == sorted(moving)
    assert sum(moving) == 6


def test_colour_and_line_tell_every_curve_of_a_figure_apart() -> None:
    looks = [(colour_of(scheme), moves_data(scheme)) for scheme in FIGURE_SCHEMES]
    assert len(set(looks)) == len(looks)
    assert colour_of("ours") == colour_of("ours-offload")
    assert colour_of(EVERYONE) == "black"
