"""Errors of connections to remote ends: refused, unknown host, untrusted certificate, proxy."""

from __future__ import annotations

import socket
import ssl
from http import HTTPStatus
from urllib.parse import urlsplit

from orchestrator.errors import NoAnswer, OrchestratorError, OutOfResources, Unreached
from orchestrator.system.host.shortages import describe_shortage
from orchestrator.system.http import ConnectionFailed
from orchestrator.system.machine import LOOPBACK

GATEWAY = frozenset({"HTTP 502", "HTTP 503", "HTTP 504"})
"""Answers of proxies; a remote end's own errors are W3C's, whatever their status."""
_AGAIN = "Try again; if it keeps failing, check that the remote end runs."


def explain_failure(url: str, cause: BaseException | None) -> tuple[str, str]:
    """Return what happened, as a clause, and the hint for a start there, as a sentence.

    `cause` is an `OSError` of the transport, or None.
    """
    import urllib3.exceptions  # noqa: PLC0415 — it loads with the first session, not with us

    if isinstance(cause, ConnectionFailed):
        cause = cause.__cause__
    host = urlsplit(url).hostname
    if isinstance(cause, urllib3.exceptions.NameResolutionError | socket.gaierror):
        return f"there is no host {host!r}", "Check the URL, and that this machine is in the right network."
    if isinstance(cause, urllib3.exceptions.NewConnectionError | ConnectionRefusedError):
        return f"nothing listens at {url}", "Check the URL, and that its remote end runs."
    if isinstance(cause, urllib3.exceptions.SSLError):
        return _explain_tls_failure(url, cause)
    if isinstance(cause, urllib3.exceptions.ProxyError):
        return f"the proxy of this machine does not lead to {url}", "Check HTTP_PROXY, HTTPS_PROXY and NO_PROXY."
    if isinstance(cause, (urllib3.exceptions.HTTPError, OSError)):
        return f"{url} closed the connection without an answer", _AGAIN
    return f"the remote end at {url} is gone", _AGAIN


def _explain_tls_failure(url: str, cause: BaseException) -> tuple[str, str]:
    refused = next((one for one in cause.args if isinstance(one, ssl.SSLCertVerificationError)), None)
    if refused is None:
        return f"what listens at {url} does not speak TLS", "Write http:// if it is meant to be without."
    hint = "Name a file with the certificate of its authority in the environment, as REQUESTS_CA_BUNDLE."
    return f"the certificate of {url} is not trusted ({refused.verify_message})", hint


def connection_error(name: str, url: str, cause: BaseException) -> OrchestratorError:
    """Return the error of a session: on this machine its remote end is gone, elsewhere it cannot be reached.

    What this process lacks itself says nothing about the remote end.
    """
    if shortage := describe_shortage(cause):
        return OutOfResources(shortage, f"the remote end of session '{name}' could not be asked")
    reason, _ = explain_failure(url, cause)
    if urlsplit(url).hostname in LOOPBACK:
        return NoAnswer(name, f"the remote end is gone: {reason}")
    return Unreached(f"The remote end cannot be reached: {reason}.", reason)


def no_answer(name: str, reason: str, cause: BaseException) -> OrchestratorError:
    """Return the error of another connection than that of the commands; what we lack is not its other end's fault."""
    if shortage := describe_shortage(cause):
        return OutOfResources(shortage, f"the browser of session '{name}' could not be asked")
    return NoAnswer(name, reason)


def gateway_error(url: str, error: str) -> Unreached:
    """Return the error for a proxy that got no answer from the remote end."""
    status = HTTPStatus(int(error.removeprefix("HTTP ")))
    reason = f"a proxy before {url} answered {status.value} {status.phrase}"
    return Unreached(f"The remote end cannot be reached: {reason}.", reason)
