"""The provider `selenium_grid`: browsers, and devices behind relay nodes, at a Grid 4."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

from pydantic import Field, field_validator

from orchestrator.errors import InvalidArgument, OrchestratorError, StartFailed, Unsupported
from orchestrator.models import browser_support
from orchestrator.models.paths import RemoteAddress
from orchestrator.models.requests import Endpoint, Started
from orchestrator.models.session import SessionRecord, SessionType
from orchestrator.provider import Provider, SessionOptions, Start
from orchestrator.settings import Settings
from orchestrator.system.deadline import Deadline, poll_until
from orchestrator.webdriver.capabilities import check_capabilities, merge_capabilities
from orchestrator_providers.browsers import BROWSERS
from orchestrator_providers.capabilities import (
    app_capabilities,
    browser_capabilities,
    is_elsewhere,
    resolve_url,
    setting_url_if_same,
    url_or_secret,
)
from orchestrator_providers.selenium_grid.client import REQUEST_KEY, GridClient, node_of, stereotypes
from orchestrator_providers.selenium_grid.slots import can_take, offers

_WATCH_EVERY = 2.0
"""Seconds between two polls for an abandoned request."""
_UNSEEN = 30.0
"""Seconds after which a request that is neither in the queue nor a session counts as dropped."""
_WATCHED = 600.0
"""Seconds for which an abandoned request is watched at most; Grid's own limit for requests is 300 unless set."""
_END = 10.0
_REPORTED_WITHIN, _POLL = 2.0, 0.1
"""Seconds in which a busy Grid reports the node of a new session, and between two polls for it."""
_NO_FREE_SLOT = ("did not start within", "timed out")
"""Parts of the messages of our own limit and of the Grid's."""


class SeleniumGridOptions(SessionOptions):
    """The Grid's URL, and options that a Grid has beyond a plain WebDriver endpoint."""

    url: RemoteAddress | None = Field(
        default=None,
        description="The Grid, or secret:NAME; the setting grid_url unless given. Credentials stay secret.",
    )
    wait_for_capacity: bool = Field(
        default=False, description="Wait in the queue even if no slot matches: a node may be started for it."
    )
    name: str | None = Field(default=None, description="The session's name in the Grid; its id unless given.")
    platform_name: str | None = Field(default=None, description="A browser's platform, such as linux or windows.")
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


_CAPABILITIES = {
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

    def runs_elsewhere(self, options: SessionOptions, settings: Settings) -> bool:
        """Return True for a Grid on another machine."""
        if not isinstance(options, SeleniumGridOptions):
            raise TypeError(f"options are {type(options).__name__}, not SeleniumGridOptions")
        return is_elsewhere(options.url or settings.grid_url or "", settings)

    def endpoint(self, start: Start) -> Endpoint:
        """Return the Grid's URL and the capabilities to request, which one of its slots matches.

        Raises:
            InvalidArgument: The Grid's URL is missing.
            StartFailed: The Grid cannot be reached, or has no slot for it.
        """
        options = _options(start)
        check_capabilities(start.request.capabilities)
        given = options.url or start.settings.grid_url
        if given is None:
            raise InvalidArgument(
                "The URL of the Selenium Grid is missing.",
                hint="Give options.url, such as http://127.0.0.1:4444, or the setting grid_url.",
            )
        url, secret = resolve_url(given, start.settings)
        patience = options.start_timeout or start.settings.start_timeout
        nodes = GridClient(url, start.session_id, patience=patience, credentials=self.credentials).nodes()
        slots = stereotypes(nodes or [])
        capabilities = merge_capabilities(_requested_capabilities(start, options, slots), start.request.capabilities)
        capabilities[REQUEST_KEY] = secrets.token_hex(8)
        if slots and not options.wait_for_capacity and not any(can_take(slot, capabilities) for slot in slots):
            raise _no_slot(start, capabilities, slots)
        # Other endpoints than a Grid start the session even if the connection of its request was closed.
        return Endpoint(remote_url=url, capabilities=capabilities, secret=secret, hang_up=nodes is not None)

    def waiting(self, start: Start, endpoint: Endpoint) -> str:
        """Return the request's place in the Grid's queue, as text."""
        grid = GridClient(endpoint.remote_url, start.session_id, credentials=self.credentials)
        position = grid.queue_position(endpoint.capabilities[REQUEST_KEY])
        if position is None:
            return ""
        place, length = position
        return f"place {place} of {length} in the Grid's queue" if place else "the Grid is starting it"

    def owns(self, url: str, status: Mapping[str, Any], settings: Settings) -> bool:
        """Return True for the setting's Grid and for any status with nodes."""
        return setting_url_if_same(settings.grid_url, url) is not None or isinstance(status.get("nodes"), list)

    def attached(self, record: SessionRecord, settings: Settings) -> Started:
        """Return the session's node, the URL of its live view, and the idle time after which the node ends it."""
        grid = GridClient(self.address(record, settings), record.id, credentials=self.credentials)
        node = _find_node(grid, record.remote_session_id)
        facts = {"nodeId": node.get("id"), "nodeUrl": node.get("uri")}
        if record.capabilities.get("se:vnc"):
            facts["liveViewUrl"] = (
                f"{record.remote_url.removesuffix('/wd/hub')}/ui/#/session/{record.remote_session_id}"
            )
        limit = node.get("sessionTimeout")
        return Started(
            remote_end={name: str(value) for name, value in facts.items() if value},
            keep_alive=limit / 1000 if isinstance(limit, int | float) and limit > 0 else None,
        )

    def address(self, record: SessionRecord, settings: Settings) -> str:
        """Return the setting's URL, which may hold user and password, if it is the session's."""
        same = None if record.secret else setting_url_if_same(settings.grid_url, record.remote_url)
        return same or super().address(record, settings)

    def advice(self, endpoint: Endpoint, said: str) -> str:  # noqa: ARG002 - the contract
        """Return the hint for a Grid without a free slot."""
        is_full = any(words in said.lower() for words in _NO_FREE_SLOT)
        return "The Grid had no free slot in time: close sessions there, or add nodes." if is_full else ""

    def given_up(self, endpoint: Endpoint) -> None:
        """End the session of an abandoned request, which only a Grid since 4.27 drops when its connection closes."""
        grid = GridClient(endpoint.remote_url, "", credentials=self.credentials)
        key = endpoint.capabilities[REQUEST_KEY]
        unseen = Deadline(_UNSEEN)

        def is_over() -> bool:
            nonlocal unseen
            if remote_session_id := grid.find_session(key):
                grid.end_session(remote_session_id, _END)
                return True
            position = grid.queue_position(key)
            if position and position[0]:
                unseen = Deadline(_UNSEEN)
            return not unseen.seconds_left

        poll_until(is_over, Deadline(_WATCHED), every=_WATCH_EVERY)


def _options(start: Start) -> SeleniumGridOptions:
    if not isinstance(start.options, SeleniumGridOptions):
        raise TypeError(f"options are {type(start.options).__name__}, not SeleniumGridOptions")
    return start.options


def _requested_capabilities(start: Start, options: SeleniumGridOptions, slots: list[dict[str, Any]]) -> dict[str, Any]:
    request = start.request
    given = {name: getattr(options, field) for field, name in _CAPABILITIES.items()}
    ours = {name: value for name, value in given.items() if value is not None}
    ours.setdefault("se:name", start.session_id)
    if options.enable_downloads:
        ours["se:downloadsEnabled"] = True
    if request.type is SessionType.BROWSER:
        # A screen that is recorded or watched should show the browser.
        is_watched = options.record_video or any(slot.get("se:vncEnabled") for slot in slots)
        headless = start.headless and (request.headless is not None or not is_watched)
        if browser_support.has_ability("bidi", request.browser):
            # The Grid proxies the socket, at a URL of its own.
            ours["webSocketUrl"] = True
        if options.platform_name:
            ours["platformName"] = options.platform_name
        return browser_capabilities(start, headless=headless, bidi=True) | ours
    if request.app_path is not None:
        raise Unsupported(
            "A Selenium Grid takes no app from this machine.", hint="Give app: a URL, or a path at the node."
        )
    return app_capabilities(start) | ours


def _find_node(grid: GridClient, remote_session_id: str) -> dict[str, Any]:
    """Return the node of a session; empty if the remote end is no Grid 4 or does not report it in time."""

    def find() -> dict[str, Any]:
        return node_of(grid.nodes() or [], remote_session_id)

    try:
        nodes = grid.nodes()
        if nodes is None:
            return {}
        return node_of(nodes, remote_session_id) or poll_until(find, Deadline(_REPORTED_WITHIN), every=_POLL)
    except OrchestratorError:
        return {}


def _no_slot(start: Start, capabilities: Mapping[str, Any], slots: list[dict[str, Any]]) -> StartFailed:
    names = ("browserName", "browserVersion", "platformName", "appium:platformVersion", "appium:deviceName")
    request = " ".join(str(capabilities[name]) for name in names if capabilities.get(name))
    downloads = " with downloads" if capabilities.get("se:downloadsEnabled") else ""
    return StartFailed(
        f"Session {start.session_id!r} could not be started: no slot of the Grid can take {request}{downloads}. "
        f"It offers {offers(slots)}.",
        hint="Request one of these, or give options.waitForCapacity if nodes are started on demand.",
        session_id=start.session_id,
    )
