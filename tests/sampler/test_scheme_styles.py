"""One look for each scheme, in every figure."""

import re
from pathlib import Path

from sampler import served_samplers
from sampler.scheme_styles import _COLOUR_OF, Style, sampler_colour, style_of
from sampler.schemes import EVERYONE, SCHEMES


def test_no_two_named_schemes_look_alike() -> None:
    assert len({style_of(name) for name in SCHEMES}) == len(SCHEMES)
    assert len({sampler_colour(name) for name in served_samplers()}) == len(served_samplers())


def test_a_scheme_has_the_colour_of_its_sampler_and_is_dashed_without_offloading() -> None:
    ours, moving = style_of("ours"), style_of("ours-offload")
    assert ours.colour == moving.colour == sampler_colour("greedy") == sampler_colour("greedy:surrogate")
    assert (ours.dash, moving.dash) == ("--", "-")
    assert style_of(EVERYONE) == Style("black", "-")
    assert sampler_colour("greedy:resemblance") != sampler_colour("greedy")


def test_a_scheme_that_only_a_newer_service_knows_is_grey() -> None:
    assert style_of("clairvoyant") == style_of("clairvoyant+fast") == Style("#777777", ":")


def test_the_studio_has_the_same_colours() -> None:
    path = Path(__file__).parents[2] / "app" / "studio" / "static" / "core" / "looks.js"
    table = path.read_text(encoding="utf-8").partition("const COLOURS = {")[2].partition("}")[0]
    shown = {name.strip('"'): colour for name, colour in re.findall(r'^ +([\w":]+): "(#\w+)",$', table, re.MULTILINE)}
    ours = {name: "#000000" if colour == "black" else colour for name, colour in _COLOUR_OF.items()}
    assert shown == ours | {"plan": style_of("plan").colour}
    assert len(set(shown.values())) == len(shown)
