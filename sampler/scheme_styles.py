"""How a scheme looks in every figure: the colour is its sampler's, the dash says whether data is offloaded."""

from collections.abc import Mapping
from dataclasses import dataclass

from sampler.errors import UnknownSamplerError, UnknownSchemeError
from sampler.schemes import EVERYONE, find_scheme

__all__ = ["COLOURS", "Style", "sampler_colour", "style_of"]

# Colour-blind readers can tell these apart too.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9")
_COLOUR_OF: Mapping[str, str] = {
    "gcn_branch": COLOURS[0],
    "gcn_branch_fedl": "#882255",
    "random": COLOURS[1],
    "heuristic": COLOURS[2],
    "greedy": COLOURS[3],
    "greedy:resemblance": COLOURS[4],
    "random_branch": COLOURS[5],
    "gcn_rank": "#332288",
    "local_search": "#44AA99",
    "exhaustive": "#999933",
    EVERYONE: "black",
}
# A plan that was made elsewhere and is carried out as it is.
_GIVEN_PLAN, _OF_PLAN = "plan", "#661100"
_UNKNOWN = "#777777"


@dataclass(frozen=True)
class Style:
    """The colour and the dash of a line."""

    colour: str
    dash: str


def sampler_colour(sampler: str) -> str:
    """Return the colour of a sampler; one with an objective of its own may have its own."""
    return _COLOUR_OF.get(sampler) or _COLOUR_OF.get(sampler.partition(":")[0], _UNKNOWN)


def style_of(name: str) -> Style:
    """Return the style of a scheme: dashed without offloading; grey if nobody here knows the scheme."""
    if name == _GIVEN_PLAN:
        return Style(_OF_PLAN, "-")
    try:
        scheme = find_scheme(name)
    except (UnknownSamplerError, UnknownSchemeError):
        return Style(_UNKNOWN, ":")
    still = scheme.offloading == "none" and scheme.sampler != EVERYONE
    return Style(sampler_colour(scheme.sampler), "--" if still else "-")
