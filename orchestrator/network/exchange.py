"""One request and what came of it, redirects included, put together of the events of CDP's Network domain."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Event = Mapping[str, Any]


class Hop:
    """One address of an exchange: the request there, and the answer, which may be a redirect to the next one."""

    def __init__(self, sent: Event) -> None:
        self.sent = sent
        self.response: Event = {}
        self.ended = float(sent["timestamp"])


class Exchange:
    """What is known so far of one request.

    The headers that went over the wire come in events of their own, before or after the others; the first of them are
    those of the first hop.

    Attributes:
        page: The id of the page in the recording that it belongs to; empty where none is known.
        size: Bytes of the body, and `encoded` those that were transferred for it.
        failed: Why there is no answer; empty where there is one.
    """

    def __init__(self, page: str) -> None:
        self.page = page
        self.hops: list[Hop] = []
        self.size = 0
        self.encoded = 0
        self.failed = ""
        self.body: bytes | None = None
        self.left_out = ""
        self._sent: list[Event] = []
        self._received: list[Event] = []

    def began(self, event: Event) -> None:
        """`requestWillBeSent`: the first one, or the next after a redirect."""
        if self.hops:
            self.answered({"response": event.get("redirectResponse") or {}, "timestamp": event["timestamp"]})
        self.hops.append(Hop(event))

    def sent(self, event: Event) -> None:
        """`requestWillBeSentExtraInfo`."""
        self._sent.append(event)

    def received(self, event: Event) -> None:
        """`responseReceivedExtraInfo`."""
        self._received.append(event)

    def answered(self, event: Event) -> None:
        """`responseReceived`, or the redirect that a next request tells."""
        self.hops[-1].response = event["response"]
        self.hops[-1].ended = float(event["timestamp"])

    def ended(self, event: Event, failed: str = "") -> None:
        """`loadingFinished` or `loadingFailed`."""
        self.hops[-1].ended = max(self.hops[-1].ended, float(event["timestamp"]))
        self.encoded = int(event.get("encodedDataLength") or 0)
        self.failed = failed

    def wire(self, place: int) -> tuple[Event, Event]:
        """The headers of a hop as they went over the wire, its request's and its answer's; empty where untold."""
        sent = self._sent[place] if place < len(self._sent) else {}
        return sent, self._received[place] if place < len(self._received) else {}
