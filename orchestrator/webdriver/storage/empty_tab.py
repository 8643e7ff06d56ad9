"""A background tab that shows empty documents of any origin, answered by us over BiDi."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Self

from orchestrator.errors import NoAnswer, RemoteFailure
from orchestrator.models.storage_state import StoredItem, StoredOrigin
from orchestrator.webdriver.bidi import Bidi
from orchestrator.webdriver.storage import storage_script
from orchestrator.webdriver.storage.storage_script import OriginReading

_PATIENCE = 10.0
"""Seconds that the browser may take for one answer; none of them needs a request to a site."""
_PAGE_PATIENCE = 2.0
"""Seconds that an open page may take: one that hangs is left out."""
_BLANK = "about:blank"
_REQUEST = "network.beforeRequestSent"
_HTML = {"name": "Content-Type", "value": {"type": "string", "value": "text/html"}}


class EmptyTab:
    """A tab that shows an origin's empty page instead of the site, to which no request goes.

    As long as it is open, the driver sees one more tab. A service worker of the origin may answer in our place.

    Source: https://www.w3.org/TR/webdriver-bidi/ (`network.addIntercept`, `network.provideResponse`).
    """

    def __init__(self, bidi: Bidi, context: str) -> None:
        self._bidi = bidi
        self._context = context
        self._cookies: list[str] = []

    @classmethod
    @contextmanager
    def opened(cls, bidi: Bidi) -> Iterator[Self]:
        """Open the tab for the duration of a `with` block, in the session's user context.

        Raises:
            RemoteFailure: The browser does not answer, or refuses.
        """
        try:
            context = bidi.call(
                "browsingContext.create", type="tab", background=True, userContext=bidi.user_context, limit=_PATIENCE
            )["context"]
            try:
                with cls._diverted(bidi, str(context)) as tab:
                    yield tab
            finally:
                bidi.call("browsingContext.close", context=context)
        except NoAnswer as error:
            raise RemoteFailure(f"The browser does not answer: {error.reason}.", error="unknown error") from error

    @classmethod
    @contextmanager
    def within(cls, bidi: Bidi, tab: str) -> Iterator[Self]:
        """Use a tab of the session that has no page yet, for the duration of a `with` block; it has none afterwards.

        Raises:
            RemoteFailure: The browser does not answer, or refuses.
        """
        try:
            with cls._diverted(bidi, tab) as empty:
                yield empty
            bidi.call("browsingContext.navigate", limit=_PATIENCE, context=tab, url=_BLANK, wait="complete")
        except NoAnswer as error:
            raise RemoteFailure(f"The browser does not answer: {error.reason}.", error="unknown error") from error

    @classmethod
    @contextmanager
    def _diverted(cls, bidi: Bidi, context: str) -> Iterator[Self]:
        tab = cls(bidi, context)
        with bidi.diverting(context, _REQUEST, tab._answer), tab._intercepting():
            yield tab

    def read(self, origin: str) -> OriginReading:
        """Read the storage of an origin; that of a session, which belongs to a tab, is empty.

        Raises:
            RemoteFailure: The browser cannot navigate to the origin.
        """
        self._navigate(origin)
        text = evaluate(self._bidi, self._context, storage_script.reading_expression(), limit=_PATIENCE)
        reading = storage_script.parse_reading(text)
        if reading is None or reading.stored.origin != origin:
            raise RemoteFailure("The browser showed another page instead.", error="unknown error")
        return reading

    def write(self, stored: StoredOrigin) -> None:
        """Add an origin's entries of local storage, and its databases in place of those of the same names.

        Raises:
            RemoteFailure: The browser cannot navigate to the origin, or has no room for what is written.
        """
        self._navigate(stored.origin)
        evaluate(self._bidi, self._context, storage_script.writing_expression(stored), limit=_PATIENCE)

    def write_session(self, stored: Iterable[tuple[str, Iterable[StoredItem]]]) -> None:
        """Add entries of session storage, by origin.

        Raises:
            RemoteFailure: The browser cannot navigate to an origin, or has no room for the entries.
        """
        for origin, items in stored:
            self._navigate(origin)
            expression = storage_script.session_writing_expression(items)
            evaluate(self._bidi, self._context, expression, limit=_PATIENCE)

    def set_cookies(self, origin: str, cookies: Iterable[str]) -> None:
        """Let the origin's page set cookies, as values of the header `Set-Cookie`.

        Raises:
            RemoteFailure: The browser cannot navigate to the origin.
        """
        self._cookies = [*cookies]
        try:
            self._navigate(origin)
        finally:
            self._cookies = []

    @contextmanager
    def _intercepting(self) -> Iterator[None]:
        added = self._bidi.call("network.addIntercept", phases=["beforeRequestSent"], contexts=[self._context])
        try:
            yield
        finally:
            self._bidi.send("network.removeIntercept", intercept=added["intercept"])

    def _navigate(self, origin: str) -> None:
        params: dict[str, Any] = {"context": self._context, "url": f"{origin}/", "wait": "interactive"}
        self._bidi.call("browsingContext.navigate", limit=_PATIENCE, **params)

    def _answer(self, event: Mapping[str, Any]) -> None:
        """Answer a request with an empty document; called in the socket's thread."""
        if event.get("isBlocked"):
            cookies = [{"name": "Set-Cookie", "value": _bytes(cookie)} for cookie in self._cookies]
            self._bidi.send(
                "network.provideResponse",
                request=event["request"]["request"],
                statusCode=200,
                reasonPhrase="OK",
                headers=[_HTML, *cookies],
                body={"type": "string", "value": ""},
            )


def read_tab(bidi: Bidi, context: str, most: int) -> OriginReading | None:
    """Read the storage of an open page's origin; None if the page may have none.

    `most` is how many characters its databases may have.

    Raises:
        RemoteFailure: The page did not answer in time, or was closed.
    """
    try:
        text = evaluate(bidi, context, storage_script.reading_expression(most), limit=_PAGE_PATIENCE)
    except NoAnswer as error:
        raise RemoteFailure(f"The page did not answer: {error.reason}.", error="timeout") from error
    return storage_script.parse_reading(text)


def evaluate(bidi: Bidi, context: str, expression: str, *, limit: float) -> str:
    """Return the value of an expression, a text, in our world of a tab's page; a promise is awaited.

    Raises:
        RemoteFailure: It threw.
        NoAnswer: As `Bidi.call`.
    """
    answer = bidi.call(
        "script.evaluate",
        expression=expression,
        target={"context": context, "sandbox": storage_script.WORLD},
        awaitPromise=True,
        limit=limit,
    )
    if answer["type"] != "success":
        raise RemoteFailure(f"The browser refused it: {answer['exceptionDetails']['text']}.", error="unknown error")
    return str(answer["result"].get("value", ""))


def _bytes(text: str) -> dict[str, str]:
    return {"type": "base64", "value": base64.b64encode(text.encode()).decode()}
