"""get_network: the requests of pages, and their results."""

from __future__ import annotations

from typing import Any

import pytest

from tests.e2e.stage import Stage, refused
from tests.servers.ports import free_port
from tests.servers.site import Reply
from tests.waiting import until

pytestmark = pytest.mark.full


def position(stage: Stage) -> float:
    """Return the position after the last recorded request."""
    return float(stage.ok("get_network")["until"])


def requests_after(stage: Stage, start: float, **arguments: Any) -> list[dict[str, Any]]:
    """Return the requests after a position, without the site's icon."""
    found = stage.ok("get_network", since=start, **arguments)["entries"]
    return [one for one in found if not one["url"].endswith("/favicon.ico")]


def test_requests_are_recorded_in_order(stage: Stage) -> None:  # X7
    """Entries have method, URL, type, status, size, duration and initiator; text and data say the same."""
    start = position(stage)
    stage.site.page("/a.css", Reply("p {}", content_type="text/css"))
    stage.site.page("/data.json", Reply("{}", content_type="application/json; charset=utf-8"))
    url = stage.show(
        "<link rel=stylesheet href=/a.css><script>\nfetch('/data.json', {method: 'POST', body: 'x'})"
        ".then(() => fetch('/none')).then(() => document.body.append('asked'))</script>"
    )
    stage.ok("wait_for", text="asked")
    page, css, data, none = until(
        lambda: (found := requests_after(stage, start, status="<=599"))[3:] and found, "four answers"
    )
    assert (page["method"], page["url"], page["type"], page["status"], page["mime"]) == (
        "GET", url, "document", 200, "text/html",
    )  # fmt: skip
    assert (css["type"], css["mime"]) == ("style", "text/css")
    assert (data["method"], data["type"], data["initiator"]) == ("POST", "fetch", f"{url}:2:1")
    assert none["status"] == 404
    assert data["size"] > 0
    assert data["durationMs"] >= 0
    text = stage.call("get_network", since=start, status=404).text
    assert f"GET 404 fetch {stage.site.url('/none')} (text/html, " in text


def test_a_redirect_is_recorded_as_two_requests(stage: Stage) -> None:
    """The first request of a redirect has the destination."""
    start = position(stage)
    there = stage.page("there")
    here = stage.site.page("/moved", Reply(status=302, headers={"Location": there.removeprefix(stage.site.url(""))}))
    stage.ok("navigate", url=here)
    first, second = requests_after(stage, start, status="<400")[:2]
    assert (first["url"], first["status"], first["redirect"]) == (here, 302, there)
    assert (second["url"], second["status"]) == (there, 200)


def test_failed_and_pending_requests_are_listed(stage: Stage) -> None:
    """A failed request has the browser's reason; a pending one is listed again as new when it is answered."""
    stage.show("<p>page")
    start = position(stage)
    gate = stage.site.gate("/slow")
    nowhere = f"http://127.0.0.1:{free_port()}/x"
    stage.js(f"void [fetch({nowhere!r}).catch(() => 0), fetch('/slow')]")
    gate.wait_entered()
    [failed] = until(lambda: requests_after(stage, start, status="failed"), "the failure")
    begin = "NS_ERROR" if stage.browser == "firefox" else "net::ERR"
    assert (failed["url"], failed["failure"]) == (nowhere, f"{begin}_CONNECTION_REFUSED")
    assert "status" not in failed
    [pending] = requests_after(stage, start, status="pending")
    assert pending["url"] == stage.site.url("/slow")
    later = position(stage)
    gate.open()
    [answered] = until(lambda: requests_after(stage, later), "the answer")
    assert (answered["url"], answered["status"], answered["time"]) == (pending["url"], 404, pending["time"])


def test_requests_are_filtered_by_url_and_status(stage: Stage) -> None:
    """A filter is a part of the URL or a glob, and a status, its class or a comparison."""
    stage.show("<p>page")
    start = position(stage)
    stage.site.page("/api/users", Reply("[]"))
    stage.site.page("/api/broken", Reply("", 500))
    stage.js("Promise.all(['/api/users?x=1', '/api/broken', '/none.js'].map(one => fetch(one)))")
    until(lambda: len(requests_after(stage, start, status=">=200")) == 3, "three answers")

    def paths(**arguments: Any) -> list[str]:
        found = requests_after(stage, start, **arguments)
        return sorted(one["url"].removeprefix(stage.site.url("/")) for one in found)

    assert paths(url="/api/") == ["api/broken", "api/users?x=1"]
    assert paths(url="*/api/*") == ["api/broken", "api/users?x=1"]
    assert paths(url="*.js") == paths(url="/*.js") == ["none.js"]
    assert paths(url="users?x=1") == ["api/users?x=1"]
    assert paths(url="/api/*") == ["api/broken", "api/users?x=1"]
    assert paths(url="/api") != paths(url="/ap*i") == []
    assert paths(status=500) == paths(status="5xx") == paths(status=">404") == ["api/broken"]
    assert paths(status=">=404") == paths(status=">=400") == ["api/broken", "none.js"]
    assert paths(status="2xx") == paths(status="<=200") == paths(status="<404") == ["api/users?x=1"]
    assert paths(status="failed") == []


@pytest.mark.parametrize("status", ["4x", "600", "=>400", "ok", "", "404 "])
def test_a_malformed_status_filter_is_refused(stage: Stage, status: str) -> None:
    """A malformed status is an invalid_argument error that names the argument."""
    assert "status" in refused(stage.call("get_network", status=status), "invalid_argument")


def test_get_network_shows_no_secret(stage: Stage) -> None:
    """Credentials in a URL, a typed password, cookies and authorization are in no entry, nor found by a filter."""
    start = position(stage)
    secret = "qX7-unguessable-3319"
    login = "<form><input type=password id=pw name=pw><button>Go</button></form>"
    url = stage.site.page("/guarded", login, cookies={"sid": "cookie-3319"})
    stage.ok("navigate", url=url.replace("//", "//ann:hidden-3319@"))
    stage.ok("set_value", selector="#pw", value=secret, submit=True)
    stage.ok("navigate", url=url)
    stage.ok("set_value", selector="#pw", value=secret)
    stage.js("fetch('/x', {headers: {Authorization: 'Bearer token-3319', 'X-Key': pw.value}}).then(() => 1)")
    answer = stage.call("get_network", since=start)
    assert url in [one["url"] for one in answer.data["entries"]]
    told = answer.raw.model_dump_json()
    assert "3319" not in told
    # Filters do not reveal masked values either.
    assert requests_after(stage, start, url=secret) == []
