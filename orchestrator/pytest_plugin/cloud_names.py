"""Names of a test's sessions on a cloud's dashboard."""

from __future__ import annotations

from typing import Any

_SESSION = {
    "browserstack": "session_name",
    "sauce_labs": "name",
    "testmu": "name",
    "testingbot": "name",
    "digitalai": "test_name",
}
"""The option for a session's name, by provider."""
_BUILD = {"browserstack": "build_name", "sauce_labs": "build", "testmu": "build", "testingbot": "build"}
"""The option for the build that a session belongs to, by provider."""


def cloud_options(provider: str, name: str, build: str | None) -> dict[str, Any]:
    """Return the options that name a session and its build; none for providers without a dashboard."""
    options = {_SESSION[provider]: name} if provider in _SESSION else {}
    return options | ({_BUILD[provider]: build} if build and provider in _BUILD else {})
