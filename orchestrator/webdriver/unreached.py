"""Why nothing came back from a remote end: nobody listens, a name is unknown, a certificate is not trusted."""

from __future__ import annotations

import re
import ssl
from http import HTTPStatus
from urllib.parse import urlsplit

from orchestrator.errors import NoAnswer, OrchestratorError, Unreached
from orchestrator.machine import LOOPBACK

GATEWAY = frozenset({"HTTP 502", "HTTP 503", "HTTP 504"})
"""What proxies answer of their own; a remote end's own errors are W3C's, whatever their status."""
_AGAIN = "Try again; if it stays so, look whether its remote end runs."
_TAG = re.compile(r"<(style|script|title)\b.*?</\1>|<[^>]*>", re.IGNORECASE | re.DOTALL)


def why(url: str, cause: BaseException | None) -> tuple[str, str]:
    """What happened, as a clause, and what a start there needs, as a sentence; `cause` is urllib3's or the system's."""
    import urllib3.exceptions  # noqa: PLC0415 — it loads with the first session, not with us

    host = urlsplit(url).hostname
    if isinstance(cause, urllib3.exceptions.NameResolutionError):
        return f"there is no host {host!r}", "Check the URL, and that this machine is in the right network."
    if isinstance(cause, urllib3.exceptions.NewConnectionError):
        return f"nothing listens at {url}", "Check the URL, and look whether its remote end runs."
    if isinstance(cause, urllib3.exceptions.SSLError):
        return _of_tls(url, cause)
    if isinstance(cause, urllib3.exceptions.ProxyError):
        return f"the proxy of this machine does not lead to {url}", "Check HTTP_PROXY, HTTPS_PROXY and NO_PROXY."
    if isinstance(cause, (urllib3.exceptions.HTTPError, OSError)):
        return f"{url} closed the connection without an answer", _AGAIN
    return f"the remote end at {url} is gone", _AGAIN


def _of_tls(url: str, cause: BaseException) -> tuple[str, str]:
    refused = next((one for one in cause.args if isinstance(one, ssl.SSLCertVerificationError)), None)
    if refused is None:
        return f"what listens at {url} does not speak TLS", "Write http:// if it is meant to be without."
    hint = "Name a file with the certificate of its authority in the environment, as REQUESTS_CA_BUNDLE."
    return f"the certificate of {url} is not trusted ({refused.verify_message})", hint


def lost(name: str, url: str, cause: BaseException) -> OrchestratorError:
    """The error for a session: on this machine somebody must listen, elsewhere a network lies between."""
    said, _ = why(url, cause)
    if urlsplit(url).hostname in LOOPBACK:
        return NoAnswer(name, f"the remote end is gone: {said}")
    return Unreached(f"The remote end cannot be reached: {said}.", said)


def between(url: str, error: str) -> Unreached:
    """The error for the answer of a proxy that did not get one itself."""
    status = HTTPStatus(int(error.removeprefix("HTTP ")))
    said = f"a proxy before {url} answered {status.value} {status.phrase}"
    return Unreached(f"The remote end cannot be reached: {said}.", said)


def readable(body: str) -> str:
    """What an answer says that is none of WebDriver, such as a page."""
    return _TAG.sub(" ", body)
