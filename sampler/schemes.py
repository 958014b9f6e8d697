"""The table of schemes: who trains, how data is offloaded to them, and over how many draws results are averaged.

A scheme pairs a sampler with an offloading method (Sec. V-B). The service, the simulator and the studies take their
schemes from this table; tests hold the studio and the documents to it. Beside the named schemes,
SAMPLER and SAMPLER+METHOD make one.
"""

from dataclasses import dataclass, replace

from sampler.errors import UnknownSamplerError, UnknownSchemeError
from sampler.registry import DEFAULT_SAMPLER, find_sampler, sampler_names, served_samplers
from sampler.rivals.model_based import RIVALS
from solver.errors import InvalidInputError
from solver.horizon.sequence import METHODS

__all__ = ["DRAWS", "EVERYONE", "SCHEMES", "SERVED_METHODS", "Scheme", "find_scheme", "scheme_names"]

# The name that stands in place of a sampler, and of a scheme, when every device that can train does.
EVERYONE = "all"
# How many sets a scheme is averaged over if its sampler draws them at random.
DRAWS = 5
# CVXPY is the second opinion on a plan. It is too slow for whole training runs of callers.
SERVED_METHODS = tuple(method for method in METHODS if method != "cvxpy")
# The samplers that draw sets at random. All others choose one set, and chance only breaks ties; studies of networks
# where many devices tie average over draws all the same (`fedl_sim.reproduce.compared`).
_DRAWING = ("random", "random_branch")


@dataclass(frozen=True)
class Scheme:
    """A way to run FedL.

    Attributes:
        name: the name in requests, results and tables.
        sampler: a registered sampler, a rival of `sampler.rivals`, or `EVERYONE`.
        offloading: a method of `solver.horizon.sequence`; "none" moves no data.
        draws: how many sets to average over.
    """

    name: str
    sampler: str
    offloading: str = "none"
    draws: int = 1

    def __post_init__(self) -> None:
        if self.offloading not in METHODS:
            raise InvalidInputError("offloading", f"must be one of {', '.join(METHODS)}, is {self.offloading!r}")
        if self.sampler == EVERYONE and self.offloading != "none":
            raise InvalidInputError("offloading", "must be none where every device trains")
        if self.draws < 1:
            raise InvalidInputError("draws", f"must be at least 1, is {self.draws}")


def _drawn(scheme: Scheme, draws: int = DRAWS) -> Scheme:
    """Return the scheme with that many draws if its sampler draws at random, else with one."""
    return replace(scheme, draws=draws if scheme.sampler in _DRAWING else 1)


# The paper's six, `smart` being its own method; ours; and FedL on all devices.
SCHEMES = {
    scheme.name: _drawn(scheme)
    for scheme in (
        Scheme("smart", "gcn_branch"),
        Scheme("random", "random"),
        Scheme("heuristic", "heuristic"),
        Scheme("ours", DEFAULT_SAMPLER),
        Scheme("smart-offload", "gcn_branch", "fast"),
        Scheme("random-offload", "random", "random"),
        Scheme("heuristic-offload", "heuristic", "greedy"),
        Scheme("ours-offload", DEFAULT_SAMPLER, "fast"),
        Scheme(EVERYONE, EVERYONE),
    )
}


def scheme_names() -> tuple[str, ...]:
    """Return the names in the table."""
    return tuple(SCHEMES)


def find_scheme(name: str, *, draws: int = DRAWS, served: bool = False) -> Scheme:
    """Return a scheme of the table, or the one that SAMPLER or SAMPLER+METHOD makes.

    A sampler that searches also takes an objective, as in `local_search:surrogate+fast`.

    Args:
        name: a name of the table, SAMPLER or SAMPLER+METHOD.
        draws: how many sets to average over if the sampler draws them at random.
        served: accept only the samplers and methods that callers of the service are offered.

    Raises:
        UnknownSchemeError: there is no such scheme.

    >>> find_scheme("greedy+random").offloading
    'random'
    """
    if name in SCHEMES:
        return _drawn(SCHEMES[name], draws)
    sampler, plus, method = name.partition("+")
    try:
        if served or sampler not in RIVALS:
            find_sampler(sampler, served=served)
    except UnknownSamplerError as error:
        raise UnknownSchemeError(name, str(error), _known(served=served)) from error
    if plus and method not in (SERVED_METHODS if served else METHODS):
        raise UnknownSchemeError(name, f"unknown method {method!r}", _known(served=served))
    return _drawn(Scheme(name, sampler, method or "none"), draws)


def _known(*, served: bool) -> str:
    samplers = served_samplers() if served else (*sampler_names(), *RIVALS)
    methods = SERVED_METHODS if served else METHODS
    return (
        f"{', '.join(SCHEMES)}; SAMPLER or SAMPLER+METHOD, SAMPLER one of {', '.join(samplers)}, "
        f"METHOD one of {', '.join(methods)}"
    )
