"""The HTTP client for everything but WebDriver commands, on urllib3.

No request is sent twice and no redirect is followed: an answer with status 302 is an answer like any other, and
credentials go to no other host. The keeper, which has the standard library alone, uses `urllib.request`.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from orchestrator.system.deadline import Deadline
from orchestrator.system.machine import LOOPBACK
from orchestrator.system.secrets import credentials, without_credentials

if TYPE_CHECKING:
    import urllib3

_PIECE = 256 * 1024


class ConnectionFailed(ConnectionError):
    """No complete answer came: the message is the operating system's or OpenSSL's, the cause is urllib3's error."""


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """The status and the body of an answer."""

    status: int
    body: bytes

    def json(self) -> Any:
        """Parse the body as JSON.

        Raises:
            ValueError: It is none.
        """
        return json.loads(self.body)


def request(
    method: str,
    url: str,
    *,
    timeout: float,
    headers: Mapping[str, str] | None = None,
    body: bytes | Iterable[bytes] | None = None,
    deadline: Deadline | None = None,
    largest: int | None = None,
) -> HttpResponse:
    """Send one request over a connection of its own and return the answer, whatever its status.

    Args:
        method: Such as `GET`.
        url: Without user and password.
        timeout: Seconds of silence until the request is given up.
        headers: Request headers; `Host` and `Content-Length` of bytes are added.
        body: Bytes, or an iterable that makes them piece by piece, with `Content-Length` among the headers.
        deadline: The end of the whole exchange, however steadily the server sends.
        largest: Bytes of the body that are read; the rest is dropped.

    Raises:
        OSError: No complete answer came: `TimeoutError`, else `ConnectionFailed`.
    """
    with translate_errors(), open_pool(find_proxy(url)) as pool:
        answer = pool.urlopen(
            method, url, body=body, headers=headers, timeout=timeout, retries=False, redirect=False,
            preload_content=False,
        )  # fmt: skip
        try:
            return HttpResponse(answer.status, _read(answer, deadline, largest))
        finally:
            answer.close()


def basic_auth(user: str, password: str) -> str:
    """Return the value of the header `Authorization` for basic authentication."""
    return f"Basic {b64encode(f'{user}:{password}'.encode()).decode()}"


def find_proxy(url: str) -> str | None:
    """Return the proxy that the environment or the system names for a URL; None for none and for this machine."""
    from urllib.request import getproxies, proxy_bypass  # noqa: PLC0415 — most requests stay on this machine

    parts = urlsplit(url)
    if parts.hostname in LOOPBACK or proxy_bypass(parts.netloc.rpartition("@")[2]):
        return None
    return getproxies().get(parts.scheme)


def open_pool(proxy: str | None, ca_certs: str | None = None) -> urllib3.PoolManager:
    """Return a pool that keeps one connection to each host; with `ca_certs` it trusts the authorities in that file.

    Without `ca_certs` it trusts those of the system.
    """
    import urllib3  # noqa: PLC0415 — it loads with the first request, not with us

    options: dict[str, Any] = {"cert_reqs": "CERT_REQUIRED", "ca_certs": ca_certs} if ca_certs else {}
    if not proxy:
        return urllib3.PoolManager(**options)
    if proxy.lower().startswith("socks"):
        from urllib3.contrib.socks import SOCKSProxyManager  # noqa: PLC0415 — few need it

        return SOCKSProxyManager(proxy, **options)
    account = credentials(proxy)
    headers = urllib3.make_headers(proxy_basic_auth=":".join(account)) if account else None
    address = without_credentials(proxy if "://" in proxy else f"http://{proxy}")
    return urllib3.ProxyManager(address, proxy_headers=headers, **options)


@contextmanager
def translate_errors() -> Iterator[None]:
    """Raise `TimeoutError` and `ConnectionFailed` for urllib3's errors, which are no `OSError`."""
    import urllib3.exceptions  # noqa: PLC0415 — as above

    try:
        yield
    except urllib3.exceptions.NewConnectionError as error:  # to urllib3 a refused connection is a timeout, too
        raise ConnectionFailed(_reason(error)) from error
    except urllib3.exceptions.TimeoutError as error:
        raise TimeoutError("timed out") from error
    except urllib3.exceptions.HTTPError as error:
        raise ConnectionFailed(_reason(error)) from error


def _reason(error: BaseException) -> str:
    """Return the message of the innermost error: urllib3 wraps those of the system in others of its own."""
    inner = error.__cause__ or next((one for one in error.args if isinstance(one, BaseException)), None)
    return _reason(inner) if inner else str(error) or type(error).__name__


def _read(answer: urllib3.BaseHTTPResponse, deadline: Deadline | None, largest: int | None) -> bytes:
    body = bytearray()
    while (largest is None or len(body) < largest) and (piece := answer.read1(_PIECE)):
        body += piece
        if deadline and not deadline.seconds_left:
            raise TimeoutError("its answer has no end")
    return bytes(body)
