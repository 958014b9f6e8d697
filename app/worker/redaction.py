"""What callers are told of a failure names no folder of the server; the log has the whole text."""

import re

__all__ = ["without_paths"]

# An absolute path: in quotes it may hold spaces. Slashes within words (`3/4`) and addresses (`https://…`) are none.
_QUOTED = re.compile(r"""(?P<quote>['"])/(?:[^'"\n]*/)?(?P<name>[^'"/\n]*)(?P=quote)""")
_PLAIN = re.compile(r"""(?<![\w:/.<])/(?:[^\s'":;,()\[\]/]+/)*(?P<name>[^\s'":;,()\[\]/]+)/?""")


def without_paths(text: str) -> str:
    """Replace every absolute path by its last part."""
    return _PLAIN.sub(r"\g<name>", _QUOTED.sub(r"\g<quote>\g<name>\g<quote>", text))
