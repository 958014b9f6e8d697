"""Delivers what is to be told to webhooks: a server's threads that take deliveries from the store, and try again."""

import logging
import threading
import time

from app.store import Store, StoreError
from app.telemetry.logs import warn_seldom
from app.webhooks.sending import SECONDS, post
from app.webhooks.store import Delivery, WebhookStore
from app.webhooks.targets import Targets

__all__ = ["Courier"]

_log = logging.getLogger("fedsift.webhooks")

_THREADS = 4
_LOOK_SECONDS = 1.0
# If this process dies during an attempt, another one tries again after this time.
_LEASE_SECONDS = 3 * SECONDS
_FIRST_WAIT, _LONGEST_WAIT = 1.0, 3600.0


class Courier:
    """Threads that deliver until they are stopped; what they have begun is tried again by whoever comes next.

    After each failure of a delivery the wait doubles, from `first_wait` to an hour.
    """

    def __init__(self, store: Store, targets: Targets, *, first_wait: float = _FIRST_WAIT) -> None:
        self._webhooks = WebhookStore(store)
        self._targets = targets
        self._first_wait = first_wait
        self._look = min(_LOOK_SECONDS, first_wait)
        self._stop = threading.Event()
        # Daemons: a receiver or a store that hangs must not keep the process alive.
        self._threads = [
            threading.Thread(target=self._run, name=f"webhooks-{number}", daemon=True) for number in range(_THREADS)
        ]

    def start(self) -> None:
        """Begin."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """End after what is under way."""
        self._stop.set()
        until = time.monotonic() + 1.0
        for thread in self._threads:
            if thread.is_alive():
                thread.join(max(0.0, until - time.monotonic()))

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                delivery = self._webhooks.claim(_LEASE_SECONDS)
                if delivery is not None:
                    self._deliver(delivery)
                    continue
            except StoreError as error:
                warn_seldom(_log, "the store does not answer: %s", error)
            except Exception:
                _log.exception("a webhook could not be delivered")
            self._stop.wait(self._look)

    def _deliver(self, delivery: Delivery) -> None:
        taken, answer = post(delivery, self._targets)
        fields = {"webhook": delivery.webhook_id, "event": delivery.id, "attempt": delivery.attempt, "answer": answer}
        if taken:
            self._webhooks.delivered(delivery, answer)
            _log.debug("a webhook was delivered", extra={"fields": fields})
        else:
            wait = min(self._first_wait * 2.0 ** min(delivery.attempt - 1, 30), _LONGEST_WAIT)
            self._webhooks.failed(delivery, answer, wait)
            _log.info("a webhook was not delivered", extra={"fields": fields})
