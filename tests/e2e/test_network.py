"""get_network: what pages asked for, and what came of it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.e2e.harness import until
from tests.e2e.stage import Stage, refused
from tests.ports import free_port
from tests.site import Reply


def since(stage: Stage) -> float:
    """The place after all that was heard so far."""
    return float(stage.ok("get_network")["until"])


def asked(stage: Stage, start: float, **arguments: Any) -> list[dict[str, Any]]:
    """The requests after it, but for the icon that the browser looks for at each site."""
    found = stage.ok("get_network", since=start, **arguments)["entries"]
    return [one for one in found if not one["url"].endswith("/favicon.ico")]


def test_requests_are_heard_in_order(stage: Stage) -> None:  # X7
    """Method, type, status, what came and how long it took, who asked; text and data say the same."""
    start = since(stage)
    stage.site.page("/a.css", Reply("p {}", content_type="text/css"))
    stage.site.page("/data.json", Reply("{}", content_type="application/json; charset=utf-8"))
    url = stage.show(
        "<link rel=stylesheet href=/a.css><script>\nfetch('/data.json', {method: 'POST', body: 'x'})"
        ".then(() => fetch('/none')).then(() => document.body.append('asked'))</script>"
    )
    stage.ok("wait_for", text="asked")
    page, css, data, none = until(lambda: (found := asked(stage, start, status="<=599"))[3:] and found, "four answers")
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


def test_a_redirect_is_two_requests(stage: Stage) -> None:
    """The first says where it led."""
    start = since(stage)
    there = stage.page("there")
    here = stage.site.page("/moved", Reply(status=302, headers={"Location": there.removeprefix(stage.site.url(""))}))
    stage.ok("navigate", url=here)
    first, second = asked(stage, start, status="<400")[:2]
    assert (first["url"], first["status"], first["redirect"]) == (here, 302, there)
    assert (second["url"], second["status"]) == (there, 200)


def test_what_fails_and_what_is_not_answered_yet_is_told(stage: Stage) -> None:
    """With the browser's reason; a request that is answered later comes again as what is new."""
    stage.show("<p>page")
    start = since(stage)
    gate = stage.site.gate("/slow")
    nowhere = f"http://127.0.0.1:{free_port()}/x"
    stage.js(f"void [fetch({nowhere!r}).catch(() => 0), fetch('/slow')]")
    gate.wait_entered()
    [failed] = until(lambda: asked(stage, start, status="failed"), "the failure")
    assert (failed["url"], failed["failure"]) == (nowhere, "net::ERR_CONNECTION_REFUSED")
    assert "status" not in failed
    [pending] = asked(stage, start, status="pending")
    assert pending["url"] == stage.site.url("/slow")
    later = since(stage)
    gate.open()
    [answered] = until(lambda: asked(stage, later), "the answer")
    assert (answered["url"], answered["status"], answered["time"]) == (pending["url"], 404, pending["time"])


def test_requests_are_chosen_by_address_and_status(stage: Stage) -> None:
    """A part of the address, or the whole with any text; a status, its class, or from one on."""
    stage.show("<p>page")
    start = since(stage)
    stage.site.page("/api/users", Reply("[]"))
    stage.site.page("/api/broken", Reply("", 500))
    stage.js("Promise.all(['/api/users?x=1', '/api/broken', '/none.js'].map(one => fetch(one)))")
    until(lambda: len(asked(stage, start, status=">=200")) == 3, "three answers")

    def paths(**arguments: Any) -> list[str]:
        found = asked(stage, start, **arguments)
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
def test_a_status_that_is_none_is_refused(stage: Stage, status: str) -> None:
    """With what it takes."""
    assert "status" in refused(stage.call("get_network", status=status), "invalid_argument")


def test_no_secret_is_shown(stage: Stage) -> None:
    """User and password of an address, a password sent in a form, cookies and authorization."""
    start = since(stage)
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
    # What is masked cannot be found out by filters either.
    assert asked(stage, start, url=secret) == []
