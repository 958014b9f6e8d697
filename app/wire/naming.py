"""Callers' own names and labels for what they keep, and what an answer repeats of a request."""

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, WithJsonSchema

from app.store.about import About
from app.wire.base import AnswerModel, Optional, RequestModel

__all__ = ["LABEL_TEXT", "NAME_TEXT", "Named", "NamedRequest", "PlanAsked", "RunState"]

RunState = Literal["active", "finished"]

# No control characters: names and labels are shown in lists and searched for line by line.
NAME_TEXT = r"^[^\x00-\x1f\x7f]{1,200}$"
_KEY_TEXT = "[a-z0-9][a-z0-9._/-]{0,62}"
LABEL_TEXT = rf"^{_KEY_TEXT}:[^\x00-\x1f\x7f]{{1,200}}$"
_MOST_LABELS = 32


def _checked(labels: dict[str, str]) -> dict[str, str]:
    if len(labels) > _MOST_LABELS:
        raise ValueError(f"must be at most {_MOST_LABELS}")
    if not all(re.fullmatch(_KEY_TEXT, key) for key in labels):
        raise ValueError(f"must have keys of the form {_KEY_TEXT}")
    if not all(re.fullmatch(NAME_TEXT, value) for value in labels.values()):
        raise ValueError("must have values of 1 to 200 characters, none of them a control character")
    return labels


_TEXTS = {"type": "object", "additionalProperties": {"type": "string"}}
Labels = Annotated[dict[str, str], AfterValidator(_checked), WithJsonSchema({**_TEXTS, "maxProperties": _MOST_LABELS})]


class NamedRequest(RequestModel):
    """What callers may call the thing that they ask for."""

    name: Optional[Annotated[str, Field(pattern=NAME_TEXT)]] = Field(
        None, description="Your own name for it, which lists can be filtered by."
    )
    labels: Optional[Labels] = Field(
        None,
        description="Your own labels, at most 32, which lists can be filtered by. Keys have up to 63 small letters, "
        "digits and `._/-`, values up to 200 characters.",
    )

    def about(self, key: str, digest: str, asked: dict[str, Any]) -> About:
        """What the store is told of the thing."""
        return About(key or None, digest, self.name or "", self.labels or {}, asked)


class Named(AnswerModel):
    """What callers call a thing."""

    name: Optional[str] = Field(None, description="As asked for.")
    labels: Optional[Annotated[dict[str, str], WithJsonSchema(_TEXTS)]] = Field(None, description="As asked for.")


class PlanAsked(Named):
    """What was asked for in a plan or run; what an earlier release stored lacks some of it."""

    n_devices: Optional[int] = None
    sample_size: Optional[int] = None
    horizon: Optional[int] = None
    aggregation_period: Optional[int] = None
    sampler: Optional[str] = Field(None, description="Absent where `sampled` fixed the set.")
    seed: Optional[int] = None
    network_id: Optional[str] = Field(None, description="The stored network, if it was asked for with one.")
    network_version: Optional[int] = Field(None, description="The version of it that was used.")
