"""What runs on every node: it says which device it is, and trains on what it holds and was sent."""

import numpy as np
from digits import holding, probabilities, split
from flwr.app import ArrayRecord, Context, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp

BATCH, RATE = 10, 0.1

client = ClientApp()


@client.query()
def introduce(message: Message, context: Context) -> Message:
    """Say which device this node is."""
    metrics = MetricRecord({"device": int(context.node_config["partition-id"])})
    return Message(content=RecordDict({"metrics": metrics}), reply_to=message)


@client.train()
def train(message: Message, context: Context) -> Message:
    """An epoch on the device's own points and on those that its neighbours sent."""
    device = int(context.node_config["partition-id"])
    sent = message.content["offloading"]
    rows = zip(sent["source"], sent["datapoints"], strict=True)
    # A simulated neighbour sends its first points, as many as the plan says.
    parts = [holding(device), *(holding(source)[: round(datapoints)] for source, datapoints in rows)]
    pixels, labels = split()[0]
    order = np.random.default_rng(int(message.content["config"]["server-round"])).permutation(np.concatenate(parts))
    weights, bias = message.content["arrays"].to_numpy_ndarrays()
    batches = [order[i : i + BATCH] for i in range(0, len(order), BATCH)]
    for batch in batches:
        error = probabilities(weights, bias, pixels[batch]) - np.eye(10)[labels[batch]]
        weights = weights - RATE * pixels[batch].T @ error / len(batch)
        bias = bias - RATE * error.mean(axis=0)
    metrics = MetricRecord({"device": device, "datapoints": len(order), "batches": len(batches)})
    content = RecordDict({"arrays": ArrayRecord([weights, bias]), "metrics": metrics})
    return Message(content=content, reply_to=message)
