"""The farm's own HTTP interface: machines are leased, looked up and given back."""

from __future__ import annotations

import json
import os
import urllib.error
import urllib.request
from typing import Any, Self
from urllib.parse import quote

from orchestrator.errors import ProviderAuth, ProviderFailure
from orchestrator.secrets import named
from orchestrator.settings import Settings

URL, TOKEN = "FARM_URL", "FARM_TOKEN"
"""The variables that say where the farm is and what opens it; the token may stand in the secrets file, too."""
_WITHIN = 10.0


class Farm:
    """The farm, for who has the token."""

    def __init__(self, url: str, token: str) -> None:
        self._url = url
        self._token = token
        # The farm is in the house: the proxy that leads out of it has no way there.
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """The farm that the environment names.

        Raises:
            ProviderFailure: It names none.
            ProviderAuth: There is no token.
        """
        url = os.environ.get(URL, "").rstrip("/")
        if not url:
            raise ProviderFailure("Nothing says where the farm is.", hint=f"Set {URL}, such as https://farm.example.")
        return cls(url, named(TOKEN, settings.secrets_file))

    @staticmethod
    def is_lease(url: str) -> bool:
        """Whether it is the URL of a lease of the farm."""
        farm = os.environ.get(URL, "").rstrip("/")
        return bool(farm) and url.startswith(f"{farm}/leases/")

    def lease(self, pool: str) -> str | None:
        """Lease a machine of this pool; the URL of the lease, None while all are taken."""
        answer = self._ask("POST", f"{self._url}/leases", {"pool": pool})
        return None if answer is None else str(answer["url"])

    def look(self, lease: str) -> dict[str, Any]:
        """What is known of a lease: its `machine`, and after how many `idleSeconds` it ends."""
        found = self._ask("GET", lease)
        if found is None:
            raise ProviderFailure("The farm does not know this lease.", hint="Start another session.")
        return found

    def release(self, lease: str) -> None:
        """Give a machine back."""
        self._ask("DELETE", lease)

    def open_url(self, lease: str) -> str:
        """The lease's URL as WebDriver clients need it: user and password open it."""
        return lease.replace("://", f"://lease:{quote(self._token, safe='')}@", 1)

    def _ask(self, method: str, url: str, body: object = None) -> dict[str, Any] | None:
        data = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        request = urllib.request.Request(url, data, headers, method=method)  # noqa: S310 - the farm's URL is ours
        try:
            with self._opener.open(request, timeout=_WITHIN) as answer:
                return dict(json.load(answer))
        except urllib.error.HTTPError as error:
            error.close()
            if error.code in {404, 409}:  # gone; all taken
                return None
            if error.code in {401, 403}:
                raise ProviderAuth("The farm does not take our token.", hint=f"Correct {TOKEN}.") from None
            raise ProviderFailure(f"The farm answered HTTP {error.code}.", hint="Ask its keepers.") from None
        except (OSError, ValueError) as error:
            reason = type(error).__name__
            raise ProviderFailure(
                f"The farm at {self._url} cannot be used ({reason}).", hint=f"Look at {URL}."
            ) from None
