"""Sessions on the machines of our own browser farm, which leases them by the hour."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from orchestrator.errors import ProviderFailure
from orchestrator.models import Endpoint, SessionRecord, SessionType, Started
from orchestrator.provider import Provider, SessionOptions, Start
from orchestrator.settings import Settings
from orchestrator.webdriver.capabilities import check, merge
from orchestrator_farm.leases import Farm
from orchestrator_providers.wanted import browser_capabilities

_AGAIN = 0.5
"""Seconds between two requests for a lease while all machines are taken."""


class FarmOptions(SessionOptions):
    """What a start can say beyond what every provider understands."""

    pool: Literal["office", "lab"] = Field(default="office", description="Which machines: office or lab.")


class FarmProvider(Provider):
    """A machine is leased before a session is created there, and given back when the session is gone."""

    name = "farm"
    types = frozenset({SessionType.BROWSER})
    browsers = frozenset({"chrome"})
    Options = FarmOptions

    def endpoint(self, start: Start) -> Endpoint:
        """A leased machine, as soon as there is one.

        Raises:
            ProviderFailure: The farm cannot be reached, or gives no leases.
            ProviderAuth: There is no token, or the farm does not take it.
        """
        options = start.options
        if not isinstance(options, FarmOptions):
            raise TypeError(f"options are {type(options).__name__}, not FarmOptions")
        # Whatever can be wrong is found out before anything is taken.
        check(start.request.capabilities)
        capabilities = merge(browser_capabilities(start, headless=start.headless), start.request.capabilities)
        farm = Farm.of(start.settings)
        while (lease := farm.lease(options.pool)) is None:
            start.tell(f"a machine of the {options.pool} to become free")
            start.check()
            time.sleep(_AGAIN)
        return Endpoint(remote_url=farm.open_url(lease), capabilities=capabilities)

    def attached(self, record: SessionRecord, settings: Settings) -> Started:
        """Which machine it is, and how long it may do nothing; `started` says the same of our own sessions."""
        lease = Farm.of(settings).look(record.remote_url)
        return Started(remote_end={"machine": lease["machine"]}, keep_alive=lease["idleSeconds"])

    def owns(self, url: str, status: Mapping[str, Any], settings: Settings) -> bool:  # noqa: ARG002 - the URL says it
        """Every lease's URL begins with the farm's."""
        return Farm.is_lease(url)

    def address(self, record: SessionRecord, settings: Settings) -> str:
        """The lease's URL with our token: the record has it without."""
        return Farm.of(settings).open_url(record.remote_url)

    def ended(self, record: SessionRecord, settings: Settings) -> None:
        """Give the machine back; one that was given back already is no error."""
        try:
            Farm.of(settings).release(record.remote_url)
        except ProviderFailure:
            return  # the farm takes it back by itself when its time is up
