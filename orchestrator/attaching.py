"""Attaches to sessions that were started elsewhere: asks whether they live, then takes them in without owning them."""

from __future__ import annotations

import contextlib
import re
import time
from typing import Any
from urllib.parse import urlsplit

import anyio.to_thread

from orchestrator.activity import Doing
from orchestrator.errors import InvalidArgument, OrchestratorError, ProviderFailure, SessionLost
from orchestrator.ids import session_id
from orchestrator.models import AttachRequest, SessionRecord, SessionState, SessionType
from orchestrator.provider import SessionOptions
from orchestrator.reach import Reach
from orchestrator.registry import Providers
from orchestrator.runner import Runner
from orchestrator.secrets import named, reference
from orchestrator.sessions import Book, Lanes, Turn
from orchestrator.settings import Settings
from orchestrator.webdriver.capabilities import check, merge
from orchestrator.webdriver.remote import Remote

PROVIDER = "remote_url"
"""Under which provider's name an attached session is listed that no other one says is its own."""
_STATUS = 5.0
"""Seconds that a remote end may take to say what it is."""
_FOUND = ("provider", "remote_url", "remote_session_id", "capabilities", "context", "secret")
"""What of the draft the record keeps."""
_SESSION = re.compile(r"[A-Za-z0-9._~-]{1,256}", re.ASCII)
_AGENT = "return navigator.userAgent"
_BROWSERS = (
    *(("Edg/", "MicrosoftEdge"), ("Firefox/", "firefox"), ("Chrome/", "chrome")),
    *((r"X11; Linux.* Version/", "MiniBrowser"), ("Safari/", "safari")),
)
"""What stands before the version in a user agent, and whose it is; the more telling first."""


class Attacher:
    """Attaches for one caller."""

    def __init__(
        self, book: Book, lanes: Lanes, runner: Runner, reach: Reach, providers: Providers, settings: Settings
    ) -> None:
        self._book = book
        self._lanes = lanes
        self._runner = runner
        self._settings = settings
        self._reach = reach
        self._providers = providers

    async def attach(self, request: AttachRequest) -> tuple[SessionRecord, list[str]]:
        """Take a living session in; returns its record, and what there is to say about it.

        A session that is open here already is not taken in twice.

        Raises:
            InvalidArgument: The URL or an id cannot be one.
            SessionLost: The remote end does not answer, or does not know the session; nothing was recorded.
            ProviderAuth: The remote end refused the URL's credentials, or its provider finds none.
            SessionExists, SessionLimit: There is no place for it.
        """
        secret = reference(request.remote_url)
        given = (named(secret, self._settings.secrets_file) if secret else request.remote_url).rstrip("/")
        _check(request, given)
        # From here on this process knows the URL's credentials, for a session that is open already, too.
        url = self._reach.told(given)
        if record := await self._known(url, request.remote_session_id):
            if url != given:  # its client has other credentials, or none
                await self._lanes.run(record.id, lambda turn: self._runner.renew(turn.record), renews=False)
            if secret:
                record = await self._book.update(record.id, lambda now: now.changed(secret=secret))
            return record, [f"This remote session is open already, as {record.id}."]
        seen = self._draft(request, url, secret)
        remote, facts = await anyio.to_thread.run_sync(self._found, seen, abandon_on_cancel=True)
        record, ticket = await self._book.start(
            request.platform, request.session_id, provider=facts.pop("provider"), owned=False, limits=seen.limits
        )
        remote.name = record.id

        def work(turn: Turn) -> SessionRecord:
            self._runner.activity.note(turn.record, Doing("attach", {"remoteUrl": url}))
            turn.change(**facts, state=SessionState.ACTIVE)
            self._runner.attach(turn.record, remote, strange=True)
            return turn.record

        return await self._lanes.run(record.id, work, ticket=ticket), []

    async def _known(self, url: str, remote_session_id: str) -> SessionRecord | None:
        """The open session of the namespace that this is; one that is lost may have come back and is taken in anew."""
        wanted = (url, remote_session_id)
        for record in (await self._book.rows())[0]:
            found = (record.remote_url.rstrip("/"), record.remote_session_id)
            if found == wanted and record.state is not SessionState.LOST:
                return record
        return None

    def _draft(self, request: AttachRequest, url: str, secret: str) -> SessionRecord:
        """The session as its provider is asked about it; it has no name yet, unless one was given."""
        now = time.time()
        return SessionRecord(
            id=request.session_id or request.remote_session_id,
            namespace=self._book.namespace,
            type=request.platform,
            provider=PROVIDER,
            owner=self._book.caller.key,
            owned=False,
            remote_url=url,
            remote_session_id=request.remote_session_id,
            capabilities=request.capabilities,
            secret=secret,
            limits=SessionOptions().limits(self._settings),
            created_at=now,
            last_active_at=now,
        )

    def _found(self, draft: SessionRecord) -> tuple[Remote, dict[str, Any]]:
        """The client of the session, which must answer, and what its record must say of it.

        Raises:
            SessionLost: It does not.
            InvalidArgument: Sessions there are of another platform.
            ProviderAuth: The credentials are refused, or not to be found.
        """
        record = draft.changed(provider=self._owner(draft))
        if record.type not in (types := self._providers[record.provider].types) and record.provider != PROVIDER:
            raise InvalidArgument(
                f"At {record.remote_url} is {record.provider!r}, which has no {record.type} sessions.",
                hint=f"Give platform: {' or '.join(sorted(types))}.",
            )
        remote = self._reach.of(record)
        capabilities, context = _asked(remote, record)
        record = record.changed(capabilities=self._reach.clean(capabilities), context=context)
        known = self._providers[record.provider].attached(record, self._settings)
        facts = {name: getattr(record, name) for name in _FOUND}
        facts |= {"remote_end": self._reach.clean(known.remote_end), "keep_alive": known.keep_alive}
        return remote, facts

    def _owner(self, draft: SessionRecord) -> str:
        """The provider that says that the session is one of its own: by the URL alone, else by what is there."""
        url = draft.remote_url
        if by_url := self._claimed(url, {}):
            return by_url
        status = self._reach.of(draft).status(_STATUS)
        return self._claimed(url, status) or PROVIDER

    def _claimed(self, url: str, status: dict[str, Any]) -> str:
        for name in self._providers:
            with contextlib.suppress(ProviderFailure):
                if self._providers[name].owns(url, status, self._settings):
                    return name
        return ""


def _check(request: AttachRequest, url: str) -> None:
    if request.session_id is not None:
        session_id(request.session_id)
    try:
        parts = urlsplit(url)
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


def _asked(remote: Remote, record: SessionRecord) -> tuple[dict[str, Any], str]:
    """The capabilities of the session, which must answer, and the context that an app's is in.

    Raises:
        SessionLost: It does not.
    """
    try:
        remote.touch()
    except SessionLost as error:
        error.hint = "Check remoteUrl and remoteSessionId; nothing was recorded."
        raise
    found = remote.capabilities()
    if "browserName" not in found and record.type is SessionType.BROWSER:
        found = {**_guessed(remote), **found}
    context = "" if record.type is SessionType.BROWSER else remote.context()
    return merge(found, record.capabilities), context


def _guessed(remote: Remote) -> dict[str, Any]:
    try:
        agent = str(remote.script(_AGENT))
    except OrchestratorError:
        return {}
    for mark, name in _BROWSERS:
        if version := re.search(rf"{mark}([\d.]+)", agent):
            return {"browserName": name, "browserVersion": version[1]}
    return {}
