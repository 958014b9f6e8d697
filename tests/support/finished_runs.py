"""Runs made by hand."""

from fedl_sim.loop.records import AggregationRecord, DeviceRecord, SchemeRun


def made_run(*accuracies: float, scheme: str = "random", seed: int = 0, draw: int = 0) -> SchemeRun:
    """A run with these accuracies; ten datapoints are processed for each aggregation."""
    records = tuple(
        AggregationRecord(
            aggregation=k,
            accuracy=accuracy,
            loss=1 - accuracy,
            gradient_norm=1.0,
            gradient_noise=1.0,
            processed=10 * k,
            moved=k,
            useful=k,
            predicted_useful=float(k),
            cost=float(k),
        )
        for k, accuracy in enumerate(accuracies)
    )
    return SchemeRun(scheme, seed, draw, (0,), (DeviceRecord(0, 5, 0, 10),), records, 0.0)
