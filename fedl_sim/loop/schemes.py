"""The schemes that are compared (Sec. V-B): who trains, and how data is offloaded to them."""

from dataclasses import dataclass

from sampler.errors import UnknownSamplerError
from sampler.registry import DEFAULT_SAMPLER, find_sampler, sampler_names
from sampler.rivals.model_based import RIVALS
from solver.horizon import METHODS

__all__ = ["PAPER_SCHEMES", "Scheme", "find_scheme", "scheme_names"]

EVERYBODY = "all"


@dataclass(frozen=True)
class Scheme:
    """A way to run FedL.

    Attributes:
        name: how it is called in results.
        sampler: a registered sampler, one of `sampler.rivals`, or "all" for FedL on every device that can
            train.
        offloading: a method of `solver.horizon`, "none" for no offloading.
        draws: how many selections to average over, for samplers that draw at random.
    """

    name: str
    sampler: str
    offloading: str = "none"
    draws: int = 1

    def __post_init__(self) -> None:
        if self.offloading not in METHODS:
            raise ValueError(f"unknown offloading {self.offloading!r}; known: {', '.join(METHODS)}")
        if self.sampler == EVERYBODY and self.offloading != "none":
            raise ValueError("when everybody trains nobody is left to offload")
        if self.draws < 1:
            raise ValueError("a scheme needs at least one draw")


PAPER_SCHEMES = {
    scheme.name: scheme
    for scheme in (
        Scheme("smart", DEFAULT_SAMPLER),
        Scheme("random", "random", draws=5),
        Scheme("heuristic", "heuristic"),
        Scheme("smart-offload", DEFAULT_SAMPLER, "fast"),
        Scheme("random-offload", "random", "random", draws=5),
        Scheme("heuristic-offload", "heuristic", "greedy"),
        Scheme("all", EVERYBODY),
    )
}


def scheme_names() -> tuple[str, ...]:
    """Return the names of the paper's schemes."""
    return tuple(PAPER_SCHEMES)


def find_scheme(name: str) -> Scheme:
    """Return a scheme by name: the paper's, or SAMPLER, or SAMPLER+OFFLOADING for any sampler.

    A sampler that searches takes an objective too, as in `local_search:surrogate+fast`.

    >>> find_scheme("greedy+random").offloading
    'random'
    """
    if name in PAPER_SCHEMES:
        return PAPER_SCHEMES[name]
    sampler, _, offloading = name.partition("+")
    try:
        if sampler not in RIVALS:
            find_sampler(sampler)
    except UnknownSamplerError as error:
        known = ", ".join((*PAPER_SCHEMES, *(f"{s}[+METHOD]" for s in (*sampler_names(), *RIVALS))))
        raise ValueError(f"unknown scheme {name!r} ({error}); known: {known}") from error
    draws = PAPER_SCHEMES["random"].draws if sampler.startswith("random") else 1
    return Scheme(name, sampler, offloading or "none", draws)
