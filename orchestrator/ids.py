"""Names that callers choose: a session's id, which is that of an instance and of a context in it, and a profile's."""

from __future__ import annotations

import re

from orchestrator.errors import InvalidArgument

DEFAULT = "default"
"""The context that an instance has from its start, and the profile that is taken unless one is named."""
_SHOWN = 64
"""Characters of a wrong name that its error repeats."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", re.ASCII)
_RULE = "letters, digits, '.', '_' and '-', at most 64 of them, beginning with a letter or digit"


def session_id(given: str) -> str:
    """Check a session id and bring it to its one spelling: `x:default` is `x`.

    Raises:
        InvalidArgument: It is not a name, or not two names joined by one colon.
    """
    instance, colon, context = given.partition(":")
    if not _NAME.fullmatch(instance) or (colon and not _NAME.fullmatch(context)):
        raise InvalidArgument(f"{_shown(given)} is not a session id.", hint=f"Use {_RULE}; or two such, as shop:ann.")
    return instance if context in {"", DEFAULT} else given


def instance_of(checked: str) -> str:
    """The instance that a session id names: the browser process, which its contexts share."""
    return checked.partition(":")[0]


def context_of(checked: str) -> str:
    """The context that a session id names; empty for the default one."""
    return checked.partition(":")[2]


def profile(given: str) -> str:
    """Check the name of a profile; it is never a path.

    Raises:
        InvalidArgument: It is not a name.
    """
    if not _NAME.fullmatch(given):
        raise InvalidArgument(f"{_shown(given)} is not the name of a profile.", hint=f"Use {_RULE}; it is no path.")
    return given


def _shown(given: str) -> str:
    return repr(given if len(given) <= _SHOWN else f"{given[:_SHOWN]}…")
