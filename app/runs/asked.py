"""What a run was asked for, as its body has it: JSON, or an .npz archive with the columns of a network."""

from dataclasses import dataclass

from app.networks.archived import read_archive
from app.plans.planning import PlanQuery
from app.plans.request import FindNetwork
from app.runs.request import BinaryRunParameters, RunRequest
from app.settings import Settings
from app.wire.arrays import read_model
from app.wire.fleet import FleetIn, Translated

__all__ = ["Asked", "is_archive", "read_asked"]

# Zip archives begin so, and no JSON does.
_ARCHIVE = b"PK"


@dataclass(frozen=True, eq=False)
class Asked:
    """The parameters of a run, and the network of an archive; JSON has its network among the parameters."""

    parameters: RunRequest | BinaryRunParameters
    given: Translated | None = None

    @property
    def fleet(self) -> FleetIn | None:
        """The fleet in the request, if it is of one."""
        return self.parameters.fleet if isinstance(self.parameters, RunRequest) else None

    def to_domain(self, settings: Settings, find: FindNetwork, *, stored: bool = False) -> PlanQuery:
        """What is to be planned; `find` finds a stored network."""
        if isinstance(self.parameters, RunRequest):
            return self.parameters.to_domain(settings, find, stored=stored)
        if self.given is None:
            raise TypeError("the parameters of an archive come with its network")
        return self.parameters.query_of(self.given, settings, stored=stored)


def is_archive(body: bytes) -> bool:
    """Whether a body is an archive rather than JSON."""
    return body.startswith(_ARCHIVE)


def read_asked(body: bytes) -> Asked:
    """What a body asks for.

    Raises:
        InvalidRequestError: the body breaks rules of the request.
        MalformedError: the body is neither JSON nor an archive.
    """
    if not is_archive(body):
        return Asked(read_model(RunRequest, body))
    given, parameters = read_archive(body, BinaryRunParameters)
    return Asked(parameters, given)
