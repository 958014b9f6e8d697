"""Imports over the wire: files as text in, a fleet and the report on it out."""

from dataclasses import asdict, fields
from typing import Annotated, Any, Literal

from pydantic import Field

from app.imports.assembly import Defaults, Imported
from app.imports.draft import Source
from app.wire.base import AnswerModel, Optional, RequestModel

__all__ = ["ImportOut", "ImportRequest"]

_Value = Annotated[float, Field(ge=0, le=1e12)]


class ImportFile(RequestModel):
    """A file."""

    name: Annotated[str, Field(min_length=1, max_length=255, description="For messages only.")]
    text: Annotated[str, Field(description="Its content.")]

    def to_domain(self) -> Source:
        """The file as readers take it."""
        return Source(self.name, self.text.encode())


class ImportDefaults(RequestModel):
    """Values for what the files lack; docs/import.md has those that are assumed otherwise."""

    step_seconds: Optional[_Value] = None
    datapoint_bytes: Optional[_Value] = None
    epochs_per_step: Optional[_Value] = None
    datapoints: Optional[_Value] = None
    samples_per_second: Optional[_Value] = None
    load: Optional[_Value] = None
    storage_datapoints: Optional[_Value] = None
    airtime_seconds: Optional[_Value] = None
    joules_per_sample: Optional[_Value] = None
    mbps: Optional[_Value] = None
    loss: Optional[_Value] = None
    joules_per_megabyte: Optional[_Value] = None
    similarity: Optional[_Value] = None

    def to_domain(self) -> Defaults:
        """The values, those that were left out as usual."""
        given = {one.name: getattr(self, one.name) for one in fields(Defaults)}
        return Defaults(**{name: value for name, value in given.items() if value is not None})


class ImportRequest(RequestModel):
    """Files to make a fleet of."""

    files: Annotated[
        list[ImportFile],
        Field(min_length=1, max_length=2, description="One file, or CSV tables of devices and of links."),
    ]
    format: Optional[Literal["json", "graphml", "csv", "olsr", "batman"]] = Field(
        None, description="What the content looks like, if left out."
    )
    label_counts: Optional[ImportFile] = Field(None, description="CSV with the columns id, class and count.")
    symmetric: Annotated[bool, Field(description="Give every link its other way.")] = False
    strict: Annotated[bool, Field(description="Refuse columns and fields that would be ignored.")] = False
    defaults: Optional[ImportDefaults] = Field(None, description="Values for what the files lack.")


class FoundField(AnswerModel):
    """A field that the files give."""

    field: str
    count: int = Field(description="Devices or links that have it.")


class AssumedField(AnswerModel):
    """A field that the files lack."""

    field: str
    value: str = Field(description="What was assumed.")
    count: int = Field(description="Devices or links that lack it.")


class ImportReport(AnswerModel):
    """What the files gave, and what was assumed."""

    format: str
    devices: int
    links: int
    found: list[FoundField]
    assumed: list[AssumedField]
    notes: list[str] = Field(description="Sentences on the links, and on what was left out.")


class ImportOut(AnswerModel):
    """A fleet, as `fleet` in a plan's request, and how it was made."""

    fleet: dict[str, Any]
    report: ImportReport

    @classmethod
    def from_domain(cls, made: Imported) -> "ImportOut":
        """The answer."""
        return cls.model_construct(fleet=made.fleet, report=ImportReport.model_validate(asdict(made.report)))
