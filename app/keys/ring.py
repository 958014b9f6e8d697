"""API keys: shown once, stored as a digest, cached for a few seconds after use.

While the store does not answer, a key that it confirmed lately is accepted for a minute, though not beyond its expiry.
"""

import hashlib
import secrets
import time
from dataclasses import dataclass, replace

from app.keys.store import KeyNameError, KeyRecord, KeyStore, Scope
from app.store import Store

__all__ = ["PREFIX", "KeyRing", "digest_of"]

PREFIX = "fsk_"
# A revoked key is refused everywhere after this many seconds, if the store answers.
_REMEMBER_SECONDS = 5.0
# How long a key is accepted that the store cannot confirm.
_TRUST_SECONDS = 60.0
_REMEMBERED = 10_000


@dataclass(frozen=True)
class _Known:
    """A key, when the store confirmed it, and when to ask again, by the monotonic clock."""

    record: KeyRecord
    confirmed: float
    ask_again: float


def digest_of(key: str) -> str:
    """SHA-256 suffices: a key has 256 random bits, so there is nothing to guess."""
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest()


class KeyRing:
    """Makes keys and recognises them. Whoever is given one has to look whether it has expired."""

    def __init__(self, store: Store) -> None:
        self._keys = KeyStore(store)
        self._known: dict[str, _Known] = {}
        self._uses: dict[str, float] = {}
        self._ahead = 0.0

    def create(
        self, name: str, owner: str | None = None, *, scope: Scope = "full", expires_at: float | None = None
    ) -> tuple[KeyRecord, str]:
        """Make a key, for this owner or for a new one. Its text is not stored.

        Raises:
            KeyNameError: the name is empty, or another key has it.
            UnknownOwnerError: there is no such owner.
        """
        if not name.strip() or not name.isprintable():
            raise KeyNameError("a key needs a name, of printable characters")
        owned_by = owner or f"own_{secrets.token_hex(8)}"
        record, text = _new(KeyRecord("", name, 0.0, owned_by, scope, expires_at))
        return self._keys.add(record, digest_of(text), new_owner=owner is None), text

    def rotate(
        self, key_id: str, *, overlap: float = 0.0, expires_at: float | None = None
    ) -> tuple[KeyRecord, str] | None:
        """Make the successor of a key, which is accepted for `overlap` seconds more; None if there is no such key."""
        record, text = _new(KeyRecord("", "", 0.0, "", expires_at=expires_at))
        made = self._keys.succeed(key_id, record, digest_of(text), overlap)
        return None if made is None else (made, text)

    def remembered(self, text: str) -> KeyRecord | None:
        """A key that is in the cache; it does not ask the store."""
        known = self._known.get(digest_of(text))
        return known.record if known is not None and time.monotonic() < known.ask_again else None

    def find(self, text: str) -> KeyRecord | None:
        """The key, or None if it is unknown. It asks the store, so it must run in a thread."""
        digest = digest_of(text)
        found = self._keys.find(digest)
        if found is None:
            self._known.pop(digest, None)
            return None
        if len(self._known) >= _REMEMBERED:
            self._known.clear()
        record, moment = found
        now = time.monotonic()
        self._ahead = moment - now
        self._known[digest] = _Known(record, now, now + _REMEMBER_SECONDS)
        return record

    def last_known(self, text: str) -> KeyRecord | None:
        """A key that the store confirmed within the last minute; for when the store does not answer.

        The key is then remembered for some seconds more, so that not every request waits for the store in vain.
        """
        digest = digest_of(text)
        known = self._known.get(digest)
        now = time.monotonic()
        if known is None or now > known.confirmed + _TRUST_SECONDS:
            return None
        until = min(now + _REMEMBER_SECONDS, known.confirmed + _TRUST_SECONDS)
        self._known[digest] = replace(known, ask_again=until)
        return known.record

    def has_expired(self, record: KeyRecord) -> bool:
        """Whether the time of a key is over that was found or remembered."""
        return record.expires_at is not None and record.expires_at <= self._now()

    def used(self, record: KeyRecord) -> None:
        """Note that a key was used; `write_uses` tells the store."""
        self._uses[record.id] = self._now()

    def write_uses(self) -> None:
        """Write when keys were used last, if any was. No request waits for it."""
        uses, self._uses = self._uses, {}
        if uses:
            self._keys.note_uses(uses)

    def _now(self) -> float:
        """The database's clock as it was when a key was found last, carried on by the monotonic clock since."""
        return time.monotonic() + self._ahead


def _new(record: KeyRecord) -> tuple[KeyRecord, str]:
    return replace(record, id=secrets.token_hex(8)), PREFIX + secrets.token_urlsafe(32)
