"""What a session's pages ask for over the network, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urljoin

from orchestrator.ears.ring import Found, Ring
from orchestrator.ears.words import address, frames, masked, place
from orchestrator.models import Wire
from orchestrator.network.globs import matches
from orchestrator.secrets import Redactor

STATUS = r"^([1-5]\d\d|[1-5]xx|[<>]=?[1-5]\d\d|failed|pending)$"
"""How answers are chosen: `404`, `4xx`, `>=400`, what failed without one, what has none yet."""
_OVERHEAD = 400
_WORD = 100
"""Characters of a method or a type: a page can make them up."""


class Request(Wire):
    """One request; `time` in seconds since 1970, `size` in bytes as they came.

    Each hop of a redirect is one of its own; `redirect` is where it was sent on to.
    """

    time: float
    method: str
    url: str
    type: str
    status: int | None = None
    mime: str | None = None
    size: int | None = None
    duration_ms: int | None = None
    failure: str | None = None
    redirect: str | None = None
    initiator: str | None = None
    from_cache: bool | None = None

    @property
    def state(self) -> str:
        """Its status as text, or what it has instead."""
        return "failed" if self.failure else "pending" if self.status is None else str(self.status)


class Network:
    """The last requests of a session.

    Source: https://www.w3.org/TR/webdriver-bidi/#module-network.

    Args:
        redactor: Knows the secrets.
    """

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._ring: Ring[Request] = Ring()

    def sent(self, event: Mapping[str, Any]) -> None:
        """Take in a `network.beforeRequestSent`."""
        if self._ring.get(_key(event)) is None:
            self._put(event)

    def answered(self, event: Mapping[str, Any]) -> None:
        """Take in a `network.responseStarted` or `network.responseCompleted`.

        The end of an answer does not come where the page does not read it.
        """
        answer = event["response"]
        status, came_from_cache = int(answer["status"]), bool(answer.get("fromCache"))
        self._put(
            event,
            status=status,
            mime=masked(str(answer.get("mimeType") or "").partition(";")[0], self._redactor, _WORD) or None,
            size=answer.get("bytesReceived"),
            from_cache=came_from_cache or None,
            redirect=self._redirect(event) if 300 <= status < 400 else None,  # noqa: PLR2004 - those of HTTP
        )

    def failed(self, event: Mapping[str, Any]) -> None:
        """Take in a `network.fetchError`: it fails, unless the page only did not care for the rest of an answer."""
        known, said = self._ring.get(_key(event)), str(event.get("errorText") or "failed")
        if known is None or known.status is None or "ABORTED" not in said:
            self._put(event, failure=said)

    def find(self, since: float, url: str | None, status: str | None, *, clear: bool = False) -> Found[Request]:
        """The requests that came or changed after a mark; `url` is a part or a glob with `*`, `status` as in STATUS.

        With `clear` all are forgotten.
        """
        heard = self._ring.since(since, clear=clear)
        found = [
            one
            for one in heard.entries
            if (url is None or self._is_at(one, url)) and (status is None or _has(one, status))
        ]
        return heard._replace(entries=found)

    def _is_at(self, one: Request, url: str) -> bool:
        shown = self._redactor.text(one.url)  # or a filter could find out what is struck out
        return matches(shown, url) if "*" in url else url in shown

    def _put(self, event: Mapping[str, Any], **came: Any) -> None:
        request, when = event["request"], float(event.get("timestamp") or 0) / 1000
        known = self._ring.get(_key(event))
        if known is None:
            known = Request(
                time=round(when, 3),
                method=masked(str(request.get("method") or ""), self._redactor, _WORD),
                url=address(request.get("url"), self._redactor),
                type=_type(request),
                initiator=_initiator(event, self._redactor),
            )
        if came:
            known = known.model_copy(update={**came, "duration_ms": max(0, round((when - known.time) * 1000))})
        size = _OVERHEAD + len(known.url) + len(known.redirect or "") + len(known.initiator or "")
        self._ring.put(_key(event), known, when, size)

    def _redirect(self, event: Mapping[str, Any]) -> str | None:
        for header in event["response"].get("headers") or ():
            if str(header.get("name")).lower() == "location":
                where = str((header.get("value") or {}).get("value") or "")
                return address(urljoin(str(event["request"].get("url")), where), self._redactor)
        return None


def _has(request: Request, wanted: str) -> bool:
    state = request.state
    if not state.isdigit() or not wanted[-3:].isdigit() or wanted.isdigit():
        return state == wanted or (wanted.endswith("xx") and state.isdigit() and state[0] == wanted[0])
    limit, status = int(wanted[-3:]), int(state)
    if status == limit:
        return "=" in wanted
    return status > limit if wanted[0] == ">" else status < limit


def _key(event: Mapping[str, Any]) -> str:
    return f"{event['request']['request']} {event.get('redirectCount') or 0}"


def _type(request: Mapping[str, Any]) -> str:
    """What it is for, in the words of Fetch (`document`, `image`, `fetch`); Chromium's own where those say nothing."""
    said = request.get("destination") or request.get("initiatorType") or request.get("goog:resourceType") or "other"
    return str(said).lower()


def _initiator(event: Mapping[str, Any], redactor: Redactor) -> str | None:
    """Which line of which file asked for it, where that is told."""
    told = event.get("initiator") or {}
    own = event["request"].get("goog:resourceInitiator") or {}
    for stack in (told.get("stackTrace"), own.get("stack")):
        if found := frames(stack):
            return place(found[0], redactor)
    return place(own, redactor) or None
