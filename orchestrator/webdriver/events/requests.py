"""Requests of a session's pages, with their responses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urljoin

from orchestrator.models.session import Wire
from orchestrator.models.url_globs import matches
from orchestrator.system.redaction.session_redactor import SessionRedactor
from orchestrator.webdriver.events.buffer import BufferedEntries, EventBuffer
from orchestrator.webdriver.events.formatting import clean_url, find_stack_frames, format_location, mask_and_cut

STATUS = r"^([1-5]\d\d|[1-5]xx|[<>]=?[1-5]\d\d|failed|pending)$"
"""Pattern of a status filter: `404`, `4xx`, `>=400`, `failed`, or `pending` for requests without a response."""
_OVERHEAD = 400
_WORD = 100
"""Characters of a method or a type, which pages can make up."""


class NetworkRequest(Wire):
    """A request; `time` in seconds since 1970, `size` in bytes as transferred.

    Each hop of a redirect is a request of its own; `redirect` is the URL of the next one.
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
        """The status as text, or `failed` or `pending`."""
        return "failed" if self.failure else "pending" if self.status is None else str(self.status)


class RequestLog:
    """The last requests of a session.

    Source: https://www.w3.org/TR/webdriver-bidi/#module-network.

    Args:
        redactor: Masks secrets in texts.
    """

    def __init__(self, redactor: SessionRedactor) -> None:
        self._redactor = redactor
        self._buffer: EventBuffer[NetworkRequest] = EventBuffer()

    def handle_before_request_sent(self, event: Mapping[str, Any]) -> None:
        """Add a request from `network.beforeRequestSent`."""
        if self._buffer.get(_key(event)) is None:
            self._put(event)

    def handle_response(self, event: Mapping[str, Any]) -> None:
        """Add a response from `network.responseStarted` or `network.responseCompleted`.

        The second one does not come if the page does not read the response.
        """
        response = event["response"]
        status, came_from_cache = int(response["status"]), bool(response.get("fromCache"))
        self._put(
            event,
            status=status,
            mime=mask_and_cut(str(response.get("mimeType") or "").partition(";")[0], self._redactor, _WORD) or None,
            size=response.get("bytesReceived"),
            from_cache=came_from_cache or None,
            redirect=self._redirect(event) if 300 <= status < 400 else None,  # noqa: PLR2004 - those of HTTP
        )

    def handle_fetch_error(self, event: Mapping[str, Any]) -> None:
        """Mark a request as failed from `network.fetchError`, unless the page only aborted reading its response."""
        known, error = self._buffer.get(_key(event)), str(event.get("errorText") or "failed")
        if known is None or known.status is None or "ABORTED" not in error:
            self._put(event, failure=error)

    def find(
        self, since: float, url: str | None, status: str | None, *, clear: bool = False
    ) -> BufferedEntries[NetworkRequest]:
        """Return the requests that came or changed after a mark; `clear` empties the buffer.

        `url` is a part of the URL or a glob with `*`, `status` a filter as in STATUS.
        """
        buffered = self._buffer.since(since, clear=clear)
        requests = [
            request
            for request in buffered.entries
            if (url is None or self._matches_url(request, url)) and (status is None or _has_status(request, status))
        ]
        return buffered._replace(entries=requests)

    def _matches_url(self, request: NetworkRequest, url: str) -> bool:
        shown = self._redactor.text(request.url)  # redacted, or filters could be used to guess a secret
        return matches(shown, url) if "*" in url else url in shown

    def _put(self, event: Mapping[str, Any], **changes: Any) -> None:
        request, when = event["request"], float(event.get("timestamp") or 0) / 1000
        known = self._buffer.get(_key(event))
        if known is None:
            known = NetworkRequest(
                time=round(when, 3),
                method=mask_and_cut(str(request.get("method") or ""), self._redactor, _WORD),
                url=clean_url(request.get("url"), self._redactor),
                type=_type(request),
                initiator=_initiator(event, self._redactor),
            )
        if changes:
            known = known.model_copy(update={**changes, "duration_ms": max(0, round((when - known.time) * 1000))})
        size = _OVERHEAD + len(known.url) + len(known.redirect or "") + len(known.initiator or "")
        self._buffer.put(_key(event), known, when, size)

    def _redirect(self, event: Mapping[str, Any]) -> str | None:
        for header in event["response"].get("headers") or ():
            if str(header.get("name")).lower() == "location":
                location = str((header.get("value") or {}).get("value") or "")
                return clean_url(urljoin(str(event["request"].get("url")), location), self._redactor)
        return None


def _has_status(request: NetworkRequest, wanted: str) -> bool:
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
    """Return the request's destination in Fetch's words (`document`, `image`, `fetch`), else Chromium's type."""
    type_ = request.get("destination") or request.get("initiatorType") or request.get("goog:resourceType") or "other"
    return str(type_).lower()


def _initiator(event: Mapping[str, Any], redactor: SessionRedactor) -> str | None:
    """Return the location of the code that made the request, if it is known."""
    initiator = event.get("initiator") or {}
    chromium = event["request"].get("goog:resourceInitiator") or {}
    for stack in (initiator.get("stackTrace"), chromium.get("stack")):
        if frames := find_stack_frames(stack):
            return format_location(frames[0], redactor)
    return format_location(chromium, redactor) or None
