"""The work behind /v1/comparisons: from bytes to an answer."""

from functools import partial
from time import perf_counter

from starlette.responses import Response

from app.comparisons.answer import ComparisonOut
from app.comparisons.request import ComparisonRequest
from app.comparisons.rows import make_rows
from app.http.answers import encoded
from app.http.gate import JSON, Service
from app.networks.loading import named_network
from app.wire.arrays import read_model
from app.wire.budget import charge
from app.wire.estimate import transfers

__all__ = ["answer_comparison"]


def answer_comparison(service: Service, owner: str, body: bytes) -> Response:
    """Parse once, plan every row in the time there is, and set the rows side by side."""
    begin = perf_counter()
    request = read_model(ComparisonRequest, body)
    comparison = request.to_domain(service.settings, partial(named_network, service, owner))
    # A row has some thirty numbers, as eight transfers have, and names its devices.
    cells = comparison.cells
    charge(sum(transfers(8 + cell.sample_size) for cell in cells), f"an answer of {len(cells)} rows")
    parsed = perf_counter() - begin
    rows = make_rows(comparison)
    stages = ("sample", "solve")
    service.metrics.stages(
        {"parse": parsed} | {stage: sum(row.seconds.get(stage, 0.0) for row in rows) for stage in stages}
    )
    for row in rows:
        if row.figures is not None:
            service.metrics.plan(row.figures.status, row.figures.relative_gap)
    return Response(encoded(service, ComparisonOut.from_domain(comparison, rows)), media_type=JSON)
