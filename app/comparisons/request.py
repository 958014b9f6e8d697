"""Comparisons as they are asked for: a network, and lists whose combinations are planned for."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Annotated, Any

from pydantic import ConfigDict, Field

from app.comparisons.rows import Cell, Comparison
from app.http.problems import InvalidRequestError
from app.plans.planning import PlanQuery, check_choice
from app.plans.request import EXAMPLE, FindNetwork, GivenNetwork, HorizonParameters, PlanParameters
from app.settings import Settings
from app.wire.base import Optional, RequestModel
from app.wire.fleet import Translated
from sampler import DEFAULT_SAMPLER

__all__ = ["COMPARISON_EXAMPLE", "ComparisonRequest"]

COMPARISON_EXAMPLE: dict[str, Any] = {
    "network": EXAMPLE["network"],
    "horizon": 2,
    "samplers": ["heuristic"],
    "sample_sizes": [1, 2],
    "budget_scales": [1.0],
    "seeds": [0],
    "baseline": {"sample_size": 2},
}

_LISTS = {
    "sampler": "samplers",
    "sample_size": "sample_sizes",
    "budget_scale": "budget_scales",
    "seed": "seeds",
}
# What people compare, the usual first; seeds are for repetition.
_COMPARED = ("sampler", "sample_size", "budget_scale")
_Sampler = Annotated[str, Field(max_length=64)]
_Size = Annotated[int, Field(ge=1, lt=2**31)]
_Scale = Annotated[float, Field(ge=1e-6, le=1e6)]
_Seed = Annotated[int, Field(ge=0, lt=2**63)]


class BaselineIn(RequestModel):
    """The row that a row is measured against: what is left out, it has in common with that row."""

    sampler: Optional[_Sampler] = None
    sample_size: Optional[_Size] = None
    budget_scale: Optional[_Scale] = None
    seed: Optional[_Seed] = None


class ComparisonRequest(GivenNetwork, HorizonParameters):
    """A network, and what to compare for it: every combination of the lists is a row."""

    model_config = ConfigDict(json_schema_extra={"examples": [COMPARISON_EXAMPLE]})

    samplers: Annotated[list[_Sampler], Field(min_length=1, max_length=100)] = Field([DEFAULT_SAMPLER])
    sample_sizes: Annotated[
        list[_Size], Field(min_length=1, max_length=1000, description="How many devices train, in each row.")
    ]
    budget_scales: Annotated[
        list[_Scale],
        Field(
            min_length=1,
            max_length=100,
            description="Factors of all receive capacities and transmit budgets; processing capacities stay.",
        ),
    ] = Field([1.0])
    seeds: Annotated[
        list[_Seed], Field(min_length=1, max_length=1000, description="For samplers that draw, and for ties.")
    ] = Field([0])
    baseline: Optional[BaselineIn] = Field(
        None, description="If left out, the first of `samplers`; of the next list, if there is only one sampler."
    )

    def to_domain(self, settings: Settings, find: FindNetwork | None = None) -> Comparison:
        """The comparison; `find` finds a stored network, by its id and perhaps its version."""
        return self.comparison_of(self.given() if find is None else self.given(find), settings)

    def comparison_of(self, given: Translated, settings: Settings) -> Comparison:
        """The comparison for this network."""
        self._check_lists(settings.comparison_rows)
        for place, size in enumerate(self.sample_sizes):
            if size > len(given.network):
                rule = f"must be at most the number of devices, {len(given.network)}"
                raise InvalidRequestError.at(f"/sample_sizes/{place}", rule)
        shared = {name: getattr(self, name) for name in HorizonParameters.model_fields}
        common = PlanParameters.model_construct(**shared, sample_size=self.sample_sizes[0]).query_of(given, settings)
        # Rows look at the clock between them. A row that is small has no limit of its own, as a small plan has none.
        common = replace(common, asked_for_time_limit=False)
        for place, sampler in enumerate(self.samplers):
            _check_sampler(common, sampler, place)
        combinations = product(self.budget_scales, self.sample_sizes, self.samplers, self.seeds)
        cells = tuple(Cell(sampler, size, scale, seed) for scale, size, sampler, seed in combinations)
        return Comparison(common, cells, self._baselines(cells))

    def _check_lists(self, most: int) -> None:
        lists: dict[str, Sequence[Any]] = {name: getattr(self, name) for name in _LISTS.values()}
        count = 1
        for name, values in lists.items():
            count *= len(values)
            for place, value in enumerate(values):
                if value in values[:place]:
                    raise InvalidRequestError.at(f"/{name}/{place}", "is in the list already")
        if count > most:
            longest = max(lists, key=lambda name: len(lists[name]))
            sizes = " × ".join(f"{len(values)} {name}" for name, values in lists.items())
            rule = f"{sizes} are {count} rows; at most {most} are compared (FEDSIFT_COMPARISON_ROWS)"
            raise InvalidRequestError.at(f"/{longest}", rule)

    def _baselines(self, cells: tuple[Cell, ...]) -> tuple[int, ...]:
        """The number of each row's baseline: the row with what `baseline` names, and else alike."""
        named = self._named_baseline()
        places = {cell: number for number, cell in enumerate(cells)}
        return tuple(places[replace(cell, **named)] for cell in cells)

    def _named_baseline(self) -> dict[str, Any]:
        wanted = self.baseline or BaselineIn()
        named = {name: value for name in _LISTS if (value := getattr(wanted, name)) is not None}
        if not named:
            name = next((name for name in _COMPARED if len(getattr(self, _LISTS[name])) > 1), "sampler")
            return {name: getattr(self, _LISTS[name])[0]}
        for name, value in named.items():
            if value not in getattr(self, _LISTS[name]):
                raise InvalidRequestError.at(f"/baseline/{name}", f"must be one of `{_LISTS[name]}`")
        return named


def _check_sampler(common: PlanQuery, sampler: str, place: int) -> None:
    try:
        check_choice(replace(common, sampler=sampler))
    except InvalidRequestError as error:
        raise InvalidRequestError.at(f"/samplers/{place}", error.errors[0].detail) from error
