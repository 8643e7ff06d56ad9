"""Names that callers choose: session ids (`instance:context`) and profiles."""

from __future__ import annotations

import re

from orchestrator.errors import InvalidArgument

TARGET = "Target session. If omitted, the current session."
"""The meaning of a parameter that names the session of a call."""
DEFAULT = "default"
"""The context that an instance starts with, and the default profile."""
_SHOWN = 64
"""Characters of a wrong name that its error quotes."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", re.ASCII)
_SUFFIX = re.compile(r"[a-z0-9]{5}", re.ASCII)
_RULE = "letters, digits, '.', '_' and '-', at most 64 of them, beginning with a letter or digit"


def normalize_session_id(given: str) -> str:
    """Check a session id and return its one spelling: `x:default` is `x`.

    Raises:
        InvalidArgument: It is neither a name nor two names joined by one colon.
    """
    instance, colon, context = given.partition(":")
    if not _NAME.fullmatch(instance) or (colon and not _NAME.fullmatch(context)):
        raise InvalidArgument(f"{_shown(given)} is not a session id.", hint=f"Use {_RULE}; or two such, as shop:ann.")
    return instance if context in {"", DEFAULT} else given


def split_claim(given: str) -> tuple[str, str]:
    """Check a session id or the name of a claim on a session; return the id and, of a claim, the end of its name.

    Raises:
        InvalidArgument: It is neither.
    """
    session_id, mark, suffix = given.partition("~")
    if mark and not _SUFFIX.fullmatch(suffix):
        raise InvalidArgument(f"{_shown(given)} is not a session id.", hint="Give the name as claim_session gave it.")
    return normalize_session_id(session_id), suffix


def join_claim(session_id: str, suffix: str) -> str:
    """Return the name of a claim on a session; the session's id without a claim."""
    return f"{session_id}~{suffix}" if suffix else session_id


def instance_of(checked: str) -> str:
    """Return the instance in a session id: the browser process that its contexts share."""
    return checked.partition(":")[0]


def context_of(checked: str) -> str:
    """Return the context in a session id; empty for the default one."""
    return checked.partition(":")[2]


def profile(given: str) -> str:
    """Check the name of a profile, which is never a path.

    Raises:
        InvalidArgument: It is not a name.
    """
    if not _NAME.fullmatch(given):
        raise InvalidArgument(f"{_shown(given)} is not the name of a profile.", hint=f"Use {_RULE}; a path is no name.")
    return given


def _shown(given: str) -> str:
    return repr(given if len(given) <= _SHOWN else f"{given[:_SHOWN]}…")
