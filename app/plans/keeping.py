"""Keeps plans: once for each idempotency key, with an id. Plans of JSON bodies and of archives are kept alike."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

from starlette.responses import Response

from app.http.answers import digest_of, encoded, find_made, moment, new_id, replayed, same_body
from app.http.gate import Service, Unwritten, check_room
from app.networks.loading import network_gone
from app.plans.answer import PlanOut
from app.plans.planning import PlanResult
from app.plans.store import KeptPlan, PlanEntry, PlanStore
from app.store.about import About, KeyTakenError, Made
from app.store.database import GoneError

__all__ = ["Asked", "keep", "made_before"]


@dataclass(frozen=True)
class Asked:
    """A request to keep a plan.

    `shown(service, answer)` makes the response of the plan as JSON, `again(service, owner, id)` that of a kept plan.
    """

    owner: str
    key: str
    body: bytes
    operation: str
    shown: Callable[[Service, bytes], Response]
    again: Callable[[Service, str, str], Response]

    @cached_property
    def digest(self) -> str:
        """What tells it from another request with the same key."""
        return digest_of(self.operation, self.body)


def made_before(service: Service, asked: Asked) -> Response | None:
    """The answer to the request that the key was used with before, once more; None if it was not.

    Raises:
        ConflictError: the key was used with another body.
    """
    made = same_body(find_made(service, asked.owner, asked.key), asked.digest)
    return None if made is None else _replayed(service, asked, made)


def keep(service: Service, asked: Asked, about: About, output: str, result: PlanResult) -> Unwritten:
    """The plan with an id, valid once it is stored; if another request with its key was first, that one's."""
    entry = PlanEntry(new_id("plan"), service.store.now(), about)
    made = moment(entry.created_at)
    told = {"id": entry.id, "created_at": made, "updated_at": made, **about.told()}
    answer = encoded(service, PlanOut.from_domain(result, output, **told))
    proven = {"status": result.plan.status.value, "objective": result.plan.objective}
    listed = replace(entry, about=replace(about, asked=about.asked | proven))
    limit = service.settings.key_bytes
    plan = KeptPlan(asked.body, answer)
    store = PlanStore(service.store).adding(listed, asked.owner, plan, most_bytes=limit)
    response = asked.shown(service, answer)

    def write() -> Response:
        check_room(service, asked.owner)
        try:
            store()
        except KeyTakenError:
            return made_before(service, asked) or write()
        except GoneError:
            raise network_gone() from None
        response.status_code = 201
        response.headers["Location"] = _place(entry.id)
        return response

    return Unwritten(write)


def _replayed(service: Service, asked: Asked, made: Made) -> Response:
    return replayed(asked.again(service, asked.owner, made.id), 201, _place(made.id))


def _place(plan_id: str) -> str:
    return f"/v1/plans/{plan_id}"
