"""Kept plans for other slices: what was asked for and what was answered."""

from functools import partial

from app.http.gate import Service
from app.networks.archived import read_archive
from app.networks.loading import used_network
from app.plans.planning import PlanQuery
from app.plans.request import BinaryParameters, PlanRequest
from app.plans.store import PlanStore
from app.wire.arrays import read_model

__all__ = ["kept_plan"]

# How an archive begins, and no JSON.
_ZIP = b"PK"


def kept_plan(service: Service, owner: str, plan_id: str) -> tuple[PlanQuery, bytes] | None:
    """The query and the answer, byte for byte, of a plan that the owner kept; None if there is no such plan."""
    kept = PlanStore(service.store).find(owner, plan_id)
    if kept is None:
        return None
    if kept.request.startswith(_ZIP):
        given, parameters = read_archive(kept.request, BinaryParameters)
        return parameters.query_of(given, service.settings, stored=True), kept.answer
    find = partial(used_network, service, asked=kept.asked)
    return read_model(PlanRequest, kept.request).to_domain(service.settings, find, stored=True), kept.answer
