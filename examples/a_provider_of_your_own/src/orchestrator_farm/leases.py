"""A client of the farm's HTTP API: leases, looks up and returns machines."""

from __future__ import annotations

import json
import os
import urllib.error
import urllib.request
from typing import Any, Self
from urllib.parse import quote

from orchestrator.errors import ProviderAuth, ProviderFailure
from orchestrator.provider import Settings, named

URL, TOKEN = "FARM_URL", "FARM_TOKEN"
"""The variables of the farm's address and its token; the token may be in the secrets file instead."""
_TIMEOUT = 10.0


class Farm:
    """The farm's API, with a token."""

    def __init__(self, url: str, token: str) -> None:
        self._url = url
        self._token = token
        # The farm is in the local network, which a proxy may not reach.
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Return the farm that the environment names.

        Raises:
            ProviderFailure: The environment names none.
            ProviderAuth: There is no token.
        """
        url = os.environ.get(URL, "").rstrip("/")
        if not url:
            raise ProviderFailure("The farm's address is not set.", hint=f"Set {URL}, such as https://farm.example.")
        return cls(url, named(TOKEN, settings.secrets_file))

    @staticmethod
    def is_lease(url: str) -> bool:
        """Return True for the URL of a lease of the farm."""
        farm = os.environ.get(URL, "").rstrip("/")
        return bool(farm) and url.startswith(f"{farm}/leases/")

    def lease(self, pool: str) -> str | None:
        """Lease a machine of this pool; return the lease's URL, or None while all are taken."""
        answer = self._ask("POST", f"{self._url}/leases", {"pool": pool})
        return None if answer is None else str(answer["url"])

    def look(self, lease: str) -> dict[str, Any]:
        """Return the facts of a lease: its `machine`, and the `idleSeconds` after which it ends."""
        facts = self._ask("GET", lease)
        if facts is None:
            raise ProviderFailure("The farm does not know this lease.", hint="Start another session.")
        return facts

    def release(self, lease: str) -> None:
        """Return a machine to the farm."""
        self._ask("DELETE", lease)

    def open_url(self, lease: str) -> str:
        """Return the lease's URL for WebDriver clients, with user and password."""
        return lease.replace("://", f"://lease:{quote(self._token, safe='')}@", 1)

    def _ask(self, method: str, url: str, body: object = None) -> dict[str, Any] | None:
        data = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        request = urllib.request.Request(url, data, headers, method=method)  # noqa: S310 - the farm's URL is ours
        try:
            with self._opener.open(request, timeout=_TIMEOUT) as answer:
                return dict(json.load(answer))
        except urllib.error.HTTPError as error:
            error.close()
            if error.code in {404, 409}:  # gone; all taken
                return None
            if error.code in {401, 403}:
                raise ProviderAuth("The farm refused the token.", hint=f"Correct {TOKEN}.") from None
            raise ProviderFailure(f"The farm answered HTTP {error.code}.", hint="Ask its operators.") from None
        except (OSError, ValueError) as error:
            reason = type(error).__name__
            raise ProviderFailure(f"The farm at {self._url} cannot be used ({reason}).", hint=f"Check {URL}.") from None
