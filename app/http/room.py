"""Whether there is room for what a request would keep: in its owner's quota and on the disk."""

from app.http.gate import Service
from app.store.usage import check_quota

__all__ = ["check_room"]


def check_room(service: Service, owner: str) -> None:
    """Refuse what could not be kept before anything is computed.

    Raises:
        DiskLowError: less of the disk is free than the reserve.
        QuotaError: the owner's quota is used up.
    """
    service.store.check_disk(service.settings.disk_reserve)
    check_quota(service.store, owner, service.settings.key_bytes)
