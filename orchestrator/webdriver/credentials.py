"""User and password of remote ends by URL, for the clients of this process alone."""

from __future__ import annotations

from orchestrator.system.secrets import credentials, without_credentials

_MOST = 1_000
"""URLs of each kind that are remembered; the one that was longest not named is forgotten for a new one."""

Account = tuple[str, str]
"""User and password."""


class Credentials:
    """User and password by remote URL without them: those of callers, and those that clients were made with."""

    def __init__(self) -> None:
        self._of_callers: dict[str, Account] = {}
        self._of_clients: dict[str, Account] = {}

    def give(self, url: str) -> str:
        """Keep the user and password of a caller's URL, which replace a provider's; return the URL without them."""
        return _keep(self._of_callers, url)

    def remember(self, url: str) -> str:
        """Keep the user and password of a client's URL, for later clients; return the URL without them."""
        return _keep(self._of_clients, url)

    def given(self, url: str) -> Account | None:
        """Return a caller's user and password for a URL without them; None where none gave any."""
        return self._of_callers.get(url)

    def find(self, url: str) -> Account | None:
        """Return the user and password in a URL, else those of a caller, else those of an earlier client."""
        return credentials(url) or self._of_callers.get(url) or self._of_clients.get(url)


def _keep(kept: dict[str, Account], url: str) -> str:
    plain = without_credentials(url)
    if account := credentials(url):
        kept.pop(plain, None)
        kept[plain] = account
        if len(kept) > _MOST:
            kept.pop(next(iter(kept)), None)
    return plain
