"""Whether a driver or server on this machine is ready, as W3C WebDriver's `GET /status` tells."""

from __future__ import annotations

import http.client
import json


def is_ready(port: int, base: str) -> bool:
    """Whether it answers there, and says that it is ready."""
    # Not urllib: it would send the request through the proxy that the environment names.
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=2)
    try:
        connection.request("GET", f"{base}/status")
        return bool(json.loads(connection.getresponse().read())["value"]["ready"])
    except (OSError, http.client.HTTPException, ValueError, KeyError, TypeError):
        return False
    finally:
        connection.close()
