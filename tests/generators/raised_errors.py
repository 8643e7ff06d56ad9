"""Errors that methods raise, for their docstrings."""

from __future__ import annotations

RAISES = {
    "start_browser": {
        "InvalidArgument, SessionExists, SessionLimit": "Nothing was launched.",
        "StartFailed": "The start failed; nothing of it is left.",
    },
    "start_app_session": {
        "InvalidArgument, SessionExists, SessionLimit": "Nothing was launched.",
        "DeviceBusy": "Another session has the device.",
        "StartFailed": "The start failed; nothing of it is left.",
    },
    "start_session": {
        "InvalidArgument, Unsupported, SessionExists, SessionLimit": "Nothing was launched.",
        "StartFailed": "The remote end created no session; nothing of it is left.",
    },
    "attach_session": {
        "SessionLost": "It does not respond; nothing was recorded.",
        "InvalidArgument, ProviderAuth, SessionExists, SessionLimit": "It was not attached.",
    },
}
"""Errors by tool, each with the situation that it tells of."""
