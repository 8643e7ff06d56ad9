"""Sessions at a Selenium Grid 4: browsers, and devices behind its relay nodes."""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping
from typing import Any

from pydantic import Field, field_validator

from orchestrator import abilities
from orchestrator.errors import InvalidArgument, OrchestratorError, StartFailed, Unsupported
from orchestrator.models import Endpoint, SessionRecord, SessionType, Started
from orchestrator.provider import Provider, SessionOptions, Start
from orchestrator.settings import Settings
from orchestrator.webdriver.capabilities import check, merge
from orchestrator_providers.browsers import BROWSERS
from orchestrator_providers.grid import KEY, Grid, node_of, stereotypes
from orchestrator_providers.slots import can_take, offers
from orchestrator_providers.wanted import (
    app_capabilities,
    browser_capabilities,
    known_at,
    resolved,
    url_or_secret,
)

_LOOK = 2.0
"""Seconds between two looks after a request that was given up."""
_UNSEEN = 30.0
"""Seconds in which a request is neither in the queue nor a session, until it counts as dropped."""
_WATCHED = 600.0
"""Seconds for which it is looked after at most; Grid's own limit for requests is 300 unless set."""
_END = 10.0
_FULL = ("did not start within", "timed out")
"""What says that no slot became free: our own limit, and the Grid's."""


class SeleniumGridOptions(SessionOptions):
    """Where the Grid is, and what a Grid understands beyond a plain WebDriver endpoint."""

    url: str | None = Field(
        default=None,
        description="The Grid, or secret:NAME; the setting grid_url unless given. Credentials stay secret.",
    )
    wait_for_capacity: bool = Field(
        default=False, description="Wait in the queue also when no slot can take it now: nodes may come up for it."
    )
    name: str | None = Field(default=None, description="What the Grid calls the session; its id unless given.")
    platform_name: str | None = Field(default=None, description="A browser's system, such as linux or windows.")
    accept_insecure_certs: bool | None = Field(default=None, description="Load pages whose certificate is not trusted.")
    record_video: bool | None = Field(default=None, description="Record a video, where the Grid's nodes can.")
    screen_resolution: str | None = Field(
        default=None, pattern=r"^\d+x\d+(x\d+)?$", description="The screen at the node, such as 1920x1080."
    )
    time_zone: str | None = Field(default=None, description="The time zone at the node, such as Europe/Berlin.")
    enable_downloads: bool = Field(
        default=False, description="Bring files that the browser downloads to this machine; the node must allow it."
    )

    @field_validator("url")
    @classmethod
    def _endpoint(cls, given: str | None) -> str | None:
        return url_or_secret(given)


_SAID = {
    "name": "se:name",
    "record_video": "se:recordVideo",
    "screen_resolution": "se:screenResolution",
    "time_zone": "se:timeZone",
    "accept_insecure_certs": "acceptInsecureCerts",
}


class SeleniumGridProvider(Provider):
    """Any Selenium Grid 4 by its URL."""

    name = "selenium_grid"
    types = frozenset(SessionType)
    browsers = frozenset(BROWSERS)
    Options = SeleniumGridOptions

    def endpoint(self, start: Start) -> Endpoint:
        """The Grid's URL and what is asked of it, once it is known that one of its slots can take it.

        Raises:
            InvalidArgument: Nothing says where the Grid is.
            StartFailed: The Grid cannot be reached, or has no slot for it.
        """
        options = _options(start)
        check(start.request.capabilities)
        given = options.url or start.settings.grid_url
        if given is None:
            raise InvalidArgument(
                "Nothing says where the Selenium Grid is.",
                hint="Give options.url, such as http://127.0.0.1:4444, or the setting grid_url.",
            )
        url, secret = resolved(given, start.settings)
        patience = options.start_timeout or start.settings.start_timeout
        nodes = Grid(url, start.session_id, patience).nodes()
        slots = stereotypes(nodes or [])
        capabilities = merge(_wanted(start, options, slots), start.request.capabilities)
        capabilities[KEY] = secrets.token_hex(8)
        if slots and not options.wait_for_capacity and not any(can_take(slot, capabilities) for slot in slots):
            raise _no_slot(start, capabilities, slots)
        # What is no Grid starts the session of a request whose connection was closed, too.
        return Endpoint(remote_url=url, capabilities=capabilities, secret=secret, hang_up=nodes is not None)

    def waiting(self, start: Start, endpoint: Endpoint) -> str:
        """The request's place in the Grid's queue."""
        place = Grid(endpoint.remote_url, start.session_id).place(endpoint.capabilities[KEY])
        if place is None:
            return ""
        return f"place {place[0]} of {place[1]} in the Grid's queue" if place[0] else "the Grid is starting it"

    def owns(self, url: str, status: Mapping[str, Any], settings: Settings) -> bool:
        """That of the setting, or whatever tells of nodes."""
        return known_at(settings.grid_url, url) is not None or isinstance(status.get("nodes"), list)

    def attached(self, record: SessionRecord, settings: Settings) -> Started:  # noqa: ARG002 - the contract
        """The node that it runs on, where it can be watched, and when the node would end it for want of commands."""
        grid = Grid(record.remote_url, record.id)
        try:
            node = node_of(grid.nodes() or [], record.remote_session_id)
        except OrchestratorError:
            node = {}
        told = {"nodeId": node.get("id"), "nodeUrl": node.get("uri")}
        if record.capabilities.get("se:vnc"):
            told["liveViewUrl"] = f"{grid.url.removesuffix('/wd/hub')}/ui/#/session/{record.remote_session_id}"
        limit = node.get("sessionTimeout")
        return Started(
            remote_end={name: str(value) for name, value in told.items() if value},
            keep_alive=limit / 1000 if isinstance(limit, int | float) and limit > 0 else None,
        )

    def address(self, record: SessionRecord, settings: Settings) -> str:
        """The setting's URL, where that is the session's: it may hold user and password."""
        return known_at(settings.grid_url, record.remote_url) or super().address(record, settings)

    def advice(self, endpoint: Endpoint, said: str) -> str:  # noqa: ARG002 - the contract
        """What to do where the Grid had no slot in time."""
        full = any(words in said.lower() for words in _FULL)
        return "The Grid had no free slot in time: close sessions there, or add nodes." if full else ""

    def given_up(self, endpoint: Endpoint) -> None:
        """A Grid since 4.27 drops the request by itself; where none of it heard, what comes of it is ended."""
        grid, key = Grid(endpoint.remote_url, ""), endpoint.capabilities[KEY]
        begun = seen = time.monotonic()
        while (now := time.monotonic()) < min(begun + _WATCHED, seen + _UNSEEN):
            time.sleep(_LOOK)
            if made := grid.session(key):
                grid.end(made, _END)
                return
            place = grid.place(key)
            if place and place[0]:
                seen = now


def _options(start: Start) -> SeleniumGridOptions:
    if not isinstance(start.options, SeleniumGridOptions):
        raise TypeError(f"options are {type(start.options).__name__}, not SeleniumGridOptions")
    return start.options


def _wanted(start: Start, options: SeleniumGridOptions, slots: list[dict[str, Any]]) -> dict[str, Any]:
    request = start.request
    said = {name: getattr(options, field) for field, name in _SAID.items()}
    ours = {name: value for name, value in said.items() if value is not None}
    ours.setdefault("se:name", start.session_id)
    if options.enable_downloads:
        ours["se:downloadsEnabled"] = True
    if request.type is SessionType.BROWSER:
        # A screen that is recorded or watched should show something.
        seen = options.record_video or any(slot.get("se:vncEnabled") for slot in slots)
        headless = start.headless and (request.headless is not None or not seen)
        if abilities.able("bidi", request.browser):
            # The Grid hands the socket on, at an address of its own.
            ours["webSocketUrl"] = True
        if options.platform_name:
            ours["platformName"] = options.platform_name
        return browser_capabilities(start, headless=headless) | ours
    if request.app_path is not None:
        raise Unsupported(
            "A Selenium Grid takes no app from this machine.", hint="Give app: a URL, or a path at the node."
        )
    return app_capabilities(start) | ours


def _no_slot(start: Start, capabilities: Mapping[str, Any], slots: list[dict[str, Any]]) -> StartFailed:
    named = ("browserName", "browserVersion", "platformName", "appium:platformVersion", "appium:deviceName")
    wanted = " ".join(str(capabilities[name]) for name in named if capabilities.get(name))
    downloads = " with downloads" if capabilities.get("se:downloadsEnabled") else ""
    return StartFailed(
        f"Session {start.session_id!r} could not be started: no slot of the Grid can take {wanted}{downloads}. "
        f"It offers {offers(slots)}.",
        hint="Ask for one of these, or give options.waitForCapacity where nodes come up when they are needed.",
        session_id=start.session_id,
    )
