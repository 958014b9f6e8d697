"""`fedsift generate`: draw a network realisation and write it to a file."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from fedl_sim.data.datasets import DATA_SETS, load_data_set
from fedl_sim.errors import InvalidSettingError
from fedl_sim.network.profiles import BUDGETS
from fedl_sim.network.realisation import RealisationSettings, realise
from fedl_sim.network.topology import RANDOM_TOPOLOGIES
from fedl_sim.terminal import grouped
from solver.network import DEVICE_COLUMNS, LINK_COLUMNS, Network
from solver.network.interchange import save_network

__all__ = ["NetworkOptions", "generate"]


@dataclass(frozen=True)
class NetworkOptions:
    """Options: the data set and the network that shares it out."""

    data_set: Annotated[str, typer.Option(help=f"One of {', '.join(DATA_SETS)}.")] = "digits"
    devices: Annotated[
        int | None, typer.Option("--devices", "-n", help="N [default: 100, or a topology file's own].", min=1)
    ] = None
    topology: Annotated[
        str, typer.Option(help=f"One of {', '.join(RANDOM_TOPOLOGIES)}, or a .graphml or .json file.")
    ] = "erdos-renyi"
    link_probability: Annotated[float, typer.Option(help="Density of random graphs.")] = 0.1
    mean_datapoints: Annotated[float | None, typer.Option(help="μ per device [default: share the data set out].")] = (
        None
    )
    labels_per_device: Annotated[int, typer.Option(help="Labels a device draws from.", min=1)] = 3
    dirichlet: Annotated[
        float | None, typer.Option(help="Label shares by Dirichlet's distribution of this concentration.")
    ] = None
    budget: Annotated[str, typer.Option(help=f"A step's limits: {', '.join(BUDGETS)}.")] = "loose"
    reveal_labels: Annotated[bool, typer.Option(help="Give samplers the devices' label counts.")] = True
    epsilon: Annotated[
        float | None, typer.Option(help="Devices add Laplace noise of scale 1/epsilon to label counts [default: none].")
    ] = None

    def settings(self) -> RealisationSettings:
        """Return how to draw the network; a random one has 100 devices unless told otherwise."""
        return RealisationSettings(
            n_devices=100 if self.devices is None and self.topology in RANDOM_TOPOLOGIES else self.devices,
            topology=self.topology,
            link_probability=self.link_probability,
            mean_datapoints=self.mean_datapoints,
            labels_per_device=self.labels_per_device,
            budget=self.budget,
            reveal_labels=self.reveal_labels,
            label_epsilon=self.epsilon,
            dirichlet=self.dirichlet,
        )


@grouped
def generate(
    *,
    output: Annotated[Path, typer.Argument(help="Where to write the network: .json as the service takes it, or .npz.")],
    options: NetworkOptions,
    seed: Annotated[int, typer.Option(help="Which realisation.")] = 0,
) -> None:
    """Draw a network realisation and write it to a file that the solver and the service can read."""
    if output.suffix not in {".json", ".npz"}:
        raise InvalidSettingError(f"{output} must end in .json or .npz")
    network = realise(options.settings(), load_data_set(options.data_set), seed).network
    output.parent.mkdir(parents=True, exist_ok=True)
    if output.suffix == ".json":
        output.write_text(json.dumps(_document(network)), encoding="utf-8")
    else:
        save_network(network, output)
    similarity = network.links.similarity.mean() if len(network.links) else float("nan")
    Console(markup=False).print(
        f"wrote {output}: {len(network)} devices with {network.total_data:.0f} datapoints, "
        f"{len(network.links)} links, mean similarity {similarity:.3f}"
    )


def _document(network: Network) -> dict[str, Any]:
    """The network as `network` in a request's JSON: columns of devices and of links."""
    devices: dict[str, Any] = {name: getattr(network.devices, name).tolist() for name in DEVICE_COLUMNS}
    if network.devices.label_counts is not None:
        devices["label_counts"] = network.devices.label_counts.tolist()
    if network.devices.label_epsilon is not None:
        devices["label_noise"] = {"epsilon": network.devices.label_epsilon}
    links = {name: getattr(network.links, name).tolist() for name in LINK_COLUMNS}
    return {"devices": devices, "topology": {"kind": "links", **links}}
