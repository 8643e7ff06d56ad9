"""Attaches to sessions that were started elsewhere: asks whether they live, then takes them in without owning them."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

import anyio.to_thread

from orchestrator.errors import InvalidArgument, OrchestratorError, SessionLost
from orchestrator.models import AttachRequest, SessionRecord, SessionState, SessionType, session_id
from orchestrator.reach import Reach
from orchestrator.runner import Runner
from orchestrator.secrets import without_credentials
from orchestrator.sessions import Book, Lanes, Turn
from orchestrator.settings import Settings
from orchestrator.webdriver.capabilities import check, merge
from orchestrator.webdriver.remote import Remote

PROVIDER = "remote_url"
"""Under which provider's name an attached session is listed."""
_SESSION = re.compile(r"[A-Za-z0-9._~-]{1,256}", re.ASCII)
_AGENT = "return navigator.userAgent"
_BROWSERS = (("Edg/", "MicrosoftEdge"), ("Firefox/", "firefox"), ("Chrome/", "chrome"), ("Safari/", "safari"))
"""What stands before the version in a user agent, and whose it is; the more telling first."""


class Attacher:
    """Attaches for one caller."""

    def __init__(self, book: Book, lanes: Lanes, runner: Runner, reach: Reach, settings: Settings) -> None:
        self._book = book
        self._lanes = lanes
        self._runner = runner
        self._settings = settings
        self._reach = reach

    async def attach(self, request: AttachRequest) -> tuple[SessionRecord, list[str]]:
        """Take a living session in; returns its record, and what there is to say about it.

        A session that is open here already is not taken in twice.

        Raises:
            InvalidArgument: The URL or an id cannot be one.
            SessionLost: The remote end does not answer, or does not know the session; nothing was recorded.
            ProviderAuth: The remote end refused the URL's credentials.
            SessionExists, SessionLimit: There is no place for it.
        """
        _check(request)
        url = without_credentials(request.remote_url).rstrip("/")
        # From here on this process knows the URL's credentials, for a session that is open already, too.
        name = request.session_id or request.remote_session_id
        remote = self._reach.to(request.remote_url.rstrip("/"), request.remote_session_id, name=name)
        known, _ = await self._book.rows()
        for record in known:
            if (record.remote_url.rstrip("/"), record.remote_session_id) == (url, request.remote_session_id):
                self._runner.detach(record)
                return record, [f"This remote session is open already, as {record.id}."]
        capabilities, context = await anyio.to_thread.run_sync(_asked, remote, request, abandon_on_cancel=True)
        limits = {"idle": self._settings.idle_timeout}
        record, ticket = await self._book.start(
            request.platform, request.session_id, provider=PROVIDER, owned=False, limits=limits
        )
        remote.name = record.id

        def work(turn: Turn) -> SessionRecord:
            address = {"remote_url": remote.url, "remote_session_id": remote.remote_session_id}
            turn.change(**address, capabilities=capabilities, context=context, state=SessionState.ACTIVE)
            self._runner.attach(turn.record, remote, strange=True)
            return turn.record

        return await self._lanes.run(record.id, work, ticket=ticket), []


def _check(request: AttachRequest) -> None:
    if request.session_id is not None:
        session_id(request.session_id)
    try:
        parts = urlsplit(request.remote_url)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and not (parts.query or parts.fragment)
    except ValueError:
        usable = False
    if not usable:
        raise InvalidArgument(
            "remoteUrl is no address of a WebDriver endpoint.", hint="Write for example http://127.0.0.1:4444."
        )
    if not _SESSION.fullmatch(request.remote_session_id):
        raise InvalidArgument(
            "remoteSessionId is no W3C session id.", hint="It is the sessionId that New Session answered with."
        )
    check(request.capabilities)


def _asked(remote: Remote, request: AttachRequest) -> tuple[dict[str, Any], str]:
    """The capabilities of the session, which must answer, and the context that an app's is in.

    Raises:
        SessionLost: It does not.
    """
    try:
        # Of the standard's commands the one that no open dialog and no closed window stands in the way of.
        remote.execute("getTimeouts")
    except SessionLost as error:
        error.hint = "Check remoteUrl and remoteSessionId; nothing was recorded."
        raise
    found = remote.capabilities()
    if "browserName" not in found and request.platform is SessionType.BROWSER:
        found = {**_guessed(remote), **found}
    context = "" if request.platform is SessionType.BROWSER else remote.context()
    return merge(found, request.capabilities), context


def _guessed(remote: Remote) -> dict[str, Any]:
    try:
        agent = str(remote.script(_AGENT))
    except OrchestratorError:
        return {}
    for mark, name in _BROWSERS:
        if version := re.search(rf"{mark}([\d.]+)", agent):
            return {"browserName": name, "browserVersion": version[1]}
    return {}
