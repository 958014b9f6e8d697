"""Radio links between devices, as folders: who sends puts a file into the folder of who receives."""

from pathlib import Path

import numpy as np
from digits import Points, holding

from fedsift_client import Courier, Inbox, Order


class Radio:
    """The mail of all devices of one experiment."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder = folder
        self.seed = seed

    def send(self, order: Order) -> dict[int, int]:
        """Carry out a device's order: what the courier hands out goes to the receivers, and is noted as sent.

        What has arrived counts from before a restart, too: an order may be handed out twice.
        """
        pixels, labels = holding(order.device, self.seed)
        journal = self.folder / f"sent-{order.device}.jsonl"
        courier = Courier(len(labels), seed=f"{self.seed}-{order.device}", journal=journal)
        for parcel in courier.parcels(order):
            one, chosen = parcel.shipment, parcel.datapoints
            place = self.folder / f"to-{one.to}"
            place.mkdir(exist_ok=True)
            file = place / f"from-{order.device}-{one.step}-{one.first}.npz"
            np.savez(file, pixels=pixels[chosen], labels=labels[chosen])
            courier.sent(parcel)
        return courier.arrived(order)

    def points(self, device: int) -> Points:
        """What a device holds and was sent, without what it had already."""
        pixels, labels = holding(device, self.seed)
        inbox = Inbox(pixels, labels)
        kept = [(pixels, labels)]
        for file in sorted((self.folder / f"to-{device}").glob("*.npz")):
            with np.load(file) as mail:
                new = inbox.take(mail["pixels"], mail["labels"])
                kept.append((mail["pixels"][new], mail["labels"][new]))
        return np.concatenate([one for one, _ in kept]), np.concatenate([other for _, other in kept])

    def moved(self) -> int:
        """How many datapoints lie in the folders of receivers."""
        total = 0
        for file in self.folder.glob("to-*/*.npz"):
            with np.load(file) as mail:
                total += len(mail["labels"])
        return total
