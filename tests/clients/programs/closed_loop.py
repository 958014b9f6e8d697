"""Plan, run a closed loop and follow a validation with the generated Python client: `python closed_loop.py URL KEY`."""

import sys

from fedsift_api import AuthenticatedClient
from fedsift_api.api.plans import create_plan, list_samplers
from fedsift_api.api.runs import aggregate, create_run, delete_run, get_run
from fedsift_api.api.validations import create_validation, follow_validation, get_validation
from fedsift_api.models import (
    AggregationRequest,
    DeviceColumns,
    Diagnosis,
    GeneratorSource,
    LinkTopology,
    Network,
    Period,
    Plan,
    PlanRequest,
    Problem,
    RunNow,
    RunRequest,
    RunState,
    SamplerList,
    Validation,
    ValidationRequest,
    ValidationState,
)
from httpx import Timeout

NETWORK = Network(
    devices=DeviceColumns(
        data=[600, 580, 610],
        processing_capacity=[2000, 900, 1200],
        processing_cost=[0.8, 1.0, 0.9],
        receive_capacity=[200, 100, 150],
        transmit_budget=[80, 60, 70],
    ),
    topology=LinkTopology(kind="links", source=[1, 2], target=[0, 0], similarity=[0.4, 0.1], transmit_cost=[0.5, 0.7]),
)


def plan(client: AuthenticatedClient) -> None:
    """A plan, a diagnosis and a refusal, each of its own type."""
    samplers = list_samplers.sync(client=client)
    assert isinstance(samplers, SamplerList)
    answer = create_plan.sync(
        client=client, body=PlanRequest(network=NETWORK, sample_size=1, horizon=4, sampler=samplers.default)
    )
    assert isinstance(answer, Plan)
    assert answer.sampled == [0]
    assert answer.relative_gap <= 1e-6
    diagnosis = create_plan.sync(
        client=client, body=PlanRequest(network=NETWORK, sample_size=1, horizon=4, dry_run=True)
    )
    assert isinstance(diagnosis, Diagnosis)
    assert diagnosis.feasible
    refused = create_plan.sync(client=client, body=PlanRequest(network=NETWORK, sample_size=9, horizon=4))
    assert isinstance(refused, Problem)
    assert isinstance(refused.errors, list)
    assert refused.errors[0].pointer == "/sample_size"
    print("planned", answer.objective)


def loop(client: AuthenticatedClient) -> None:
    """Three periods with gradients that fall."""
    period = create_run.sync(
        client=client, body=RunRequest(network=NETWORK, sample_size=1, horizon=6, aggregation_period=2)
    )
    assert isinstance(period, Period)
    norm = 1.0
    while period.state == RunState.ACTIVE:
        norm *= 0.8
        report = AggregationRequest(aggregation=period.aggregation + 1, gradient_norm=norm)
        following = aggregate.sync(period.id, client=client, body=report)
        assert isinstance(following, Period)
        period = following
    state = get_run.sync(period.id, client=client)
    assert isinstance(state, RunNow)
    assert (state.step, state.state) == (6, RunState.FINISHED)
    assert delete_run.sync_detailed(period.id, client=client).status_code == 204
    print("looped", period.aggregation)


def validate(client: AuthenticatedClient) -> None:
    """A small experiment, followed until it has ended."""
    source = GeneratorSource(kind="generator", devices=8, mean_datapoints=20, link_probability=0.5)
    experiment = ValidationRequest(source=source, schemes=["heuristic-offload"], sample_size=2, aggregations=2)
    answer = create_validation.sync(client=client, body=experiment, idempotency_key="closed-loop")
    assert isinstance(answer, Validation)
    # All events as one text, when the validation has ended; it says something every ten seconds.
    events = follow_validation.sync(answer.id, client=client.with_timeout(Timeout(60)))
    assert isinstance(events, str)
    assert events.count("event: round") == 3
    answer = get_validation.sync(answer.id, client=client)
    assert isinstance(answer, Validation)
    assert answer.state == ValidationState.SUCCEEDED
    accuracy = answer.schemes[0].accuracy.mean
    assert len(accuracy) == 3
    print("validated", accuracy[-1])


if __name__ == "__main__":
    with AuthenticatedClient(
        base_url=sys.argv[1], token=sys.argv[2], prefix="", auth_header_name="X-API-Key"
    ) as service:
        plan(service)
        loop(service)
        validate(service)
