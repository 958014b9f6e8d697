"""What a server does besides answering: it notes which keys were used, deletes what is too old, and frees disk space.

Each process notes the keys that it has seen. One process of each server deletes, with or without workers. Two at once
do no harm: what one deleted is gone for the other.
"""

import logging
import threading
from collections.abc import Callable

from app.http.gate import Service
from app.keys.store import KeyStore
from app.networks.store import NetworkStore
from app.store import StoreError
from app.store.usage import delete_old
from app.validations.parts import PartStore
from app.webhooks.store import WebhookStore

__all__ = ["Retention", "tidy"]

_log = logging.getLogger("fedsift")

_SECONDS = 60.0
_DAY = 86400.0


class Retention:
    """A thread that tidies the store up at the start and once a minute."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._stop = threading.Event()
        # A daemon: a store that hangs must not keep the process alive.
        self._thread = threading.Thread(target=self._run, name="retention", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End after what is under way."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(1.0)

    def _run(self) -> None:
        stopped = False
        while not stopped:
            self._try(tidy)
            stopped = self._stop.wait(_SECONDS)
            self._try(lambda service: service.keys.write_uses())

    def _try(self, work: Callable[[Service], None]) -> None:
        try:
            work(self._service)
        except StoreError as error:
            _log.warning("the store could not be tidied up: %s", error)
        except Exception:
            _log.exception("the store could not be tidied up")


def tidy(service: Service) -> None:
    """Delete what is too old, if this process is the one that does, and return its space to the disk."""
    if not service.tidies:
        return
    store, settings = service.store, service.settings
    deleted = {
        "plans": delete_old(store, "plan", settings.plan_days),
        "runs": delete_old(store, "run", settings.run_days),
        "validations": PartStore(store).delete_ended(
            older_than=_DAY * settings.validation_days, kept_of_owner=settings.validations_kept
        ),
        "networks": NetworkStore(store).delete_old(settings.network_days),
        "keys": KeyStore(store).delete_expired(settings.key_days),
        "deliveries": WebhookStore(store).delete_old(settings.webhook_days),
    }
    if any(deleted.values()):
        _log.info("deleted what was too old", extra={"fields": deleted})
    store.give_back()
