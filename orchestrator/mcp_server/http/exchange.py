"""A request and its response as they pass: whether the client waits for the end."""

from __future__ import annotations

from starlette.types import Message, Receive, Send


class HttpExchange:
    """Passes on what is received and sent for a request whose body was read already.

    Attributes:
        dropped: True once the client has gone before its response was complete.
    """

    def __init__(self, receive: Receive, send: Send, body: bytes | None = None) -> None:
        self.dropped = False
        self._receive = receive
        self._send = send
        self._body = body
        self._complete = False

    async def receive(self) -> Message:
        """Receive the body, and then what comes after it: that the client has gone."""
        if self._body is not None:
            body, self._body = self._body, None
            return {"type": "http.request", "body": body, "more_body": False}
        message = await self._receive()
        if message["type"] == "http.disconnect" and not self._complete:
            self.dropped = True
        return message

    async def send(self, message: Message) -> None:
        """Send a part of the response."""
        if message["type"] == "http.response.body" and not message.get("more_body", False):
            self._complete = True
        await self._send(message)


async def receive_nothing() -> Message:
    """Receive that there is no client, for what answers nobody."""
    return {"type": "http.disconnect"}


async def send_nowhere(_: Message) -> None:
    """Send to nobody."""
