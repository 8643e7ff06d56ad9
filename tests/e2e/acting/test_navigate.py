"""navigate: opening a page, back, forward and reload, and pages that cannot be loaded."""

from __future__ import annotations

import socket
import threading
import time
from base64 import b64encode
from collections.abc import Iterator

import pytest

from tests.e2e.stage import Stage, refused
from tests.servers.ports import free_port
from tests.servers.site import Reply, Visit

pytestmark = pytest.mark.full


@pytest.mark.core
def test_navigate_reports_the_new_url_and_title(stage: Stage) -> None:
    """The answer has the new URL and title, in text and data."""
    url = stage.page("<h1>Hello</h1>", title="Greeting")
    answer = stage.call("navigate", url=url)
    assert answer.data["url"] == url
    assert answer.data["title"] == "Greeting"
    assert url in answer.text
    assert "Greeting" in answer.text


@pytest.mark.smoke
@pytest.mark.core
def test_history_goes_back_and_forward_and_reloads(stage: Stage) -> None:  # O7
    """Each step ends on its page, loaded; a reload requests the page again."""
    first, second = stage.show("one", title="First"), stage.show("two", title="Second")
    assert stage.ok("navigate", history="back")["url"] == first
    assert stage.ok("navigate", history="forward")["title"] == "Second"
    path = second.removeprefix(stage.site.url(""))
    visits = len(stage.site.visits(path))
    stage.js("window.marked = true")
    assert stage.ok("navigate", history="reload")["url"] == second
    assert len(stage.site.visits(path)) == visits + 1
    assert stage.js("window.marked") is None


def test_going_forward_at_the_end_of_history_is_a_warning(stage: Stage) -> None:
    """Forward at the end of history changes nothing and gives a warning, not an error."""
    url = stage.show("last")
    answer = stage.call("navigate", history="forward")
    assert not answer.failed
    assert answer.data["url"] == url
    [warning] = answer.data["warnings"]
    assert warning == "There is no page to go forward to."
    assert warning in answer.text


def test_history_steps_work_inside_one_document(stage: Stage) -> None:
    """A step between pushed states of one document is a history step like any other."""
    url = stage.show("<script>history.pushState({}, '', '?second')</script>app")
    assert stage.ok("navigate", history="back")["url"] == url
    assert stage.ok("navigate", history="forward")["url"] == f"{url}?second"


def test_navigate_waits_by_default_for_the_load_event(stage: Stage) -> None:
    """By default the call returns when images and frames are loaded."""
    gate = stage.site.gate("/slow-1.png")
    url = stage.page("<img src=/slow-1.png><script>onload = () => { document.title = 'loaded' }</script>")
    going = stage.begin("navigate", url=url)
    gate.wait_entered()
    assert not going.done()
    gate.open()
    assert going.result(60).data["title"] == "loaded"


@pytest.mark.parametrize("wait_until", ["interactive", "none"])
def test_navigate_with_interactive_or_none_answers_before_the_load_event(stage: Stage, wait_until: str) -> None:
    """`interactive` and `none` return while an image is still loading."""
    path = f"/slow-{wait_until}.png"
    gate = stage.site.gate(path)
    url = stage.page(f"<p id=p>there</p><img src={path}>")
    assert stage.ok("navigate", url=url, waitUntil=wait_until)["url"] == url
    gate.wait_entered()
    stage.ok("wait_for", selector="#p")
    assert stage.js("document.readyState") == "interactive"
    gate.open()


@pytest.mark.parametrize("tag", ["img", "script"])
def test_a_page_that_never_finishes_loading_is_a_timeout(stage: Stage, tag: str) -> None:
    """The page stays as far as it was loaded, and the retryable error names the next step."""
    gate = stage.site.gate(f"/slow-{tag}")
    url = stage.page(f"<p>so far</p><{tag} src=/slow-{tag}></{tag}>")
    # Long enough for what does load on a slow machine.
    answer = stage.call("navigate", url=url, timeout=3_000)
    assert "The page stays as far as it has loaded; raise timeout, or use waitUntil" in refused(answer, "timeout")
    assert answer.data["error"]["retryable"] is True
    assert stage.ok("get_text", selector="p")["text"] == "so far"
    gate.open()


@pytest.fixture
def silent() -> Iterator[str]:
    """A server that accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}/"


def test_a_server_that_never_answers_is_a_timeout(stage: Stage, silent: str) -> None:
    """The call ends at its own timeout, the previous page is still open, and the session continues."""
    before = stage.show("before")
    answer = stage.call("navigate", url=silent, timeout=500)
    assert silent in refused(answer, "timeout")
    assert stage.ok("get_text")["text"] == "before"
    assert stage.js("location.href") == before


def test_the_navigation_after_a_timed_out_one_loads_normally(stage: Stage, silent: str) -> None:
    """A slow page after a timed-out navigation is waited for with the default timeout."""
    stage.call("navigate", url=silent, timeout=300)
    gate = stage.site.gate("/late")
    stage.site.page("/late", "<title>Late</title>late")
    going = stage.begin("navigate", url=stage.site.url("/late"))
    gate.wait_entered()
    threading.Timer(0.6, gate.open).start()
    assert going.result(60).data["title"] == "Late"


@pytest.fixture
def nowhere() -> str:
    """The address of a server that is no longer there."""
    return f"http://127.0.0.1:{free_port()}/"


@pytest.mark.clock
def test_navigating_to_a_refused_connection_is_refused_soon(stage: Stage, nowhere: str) -> None:
    """Ends long before the timeout of a navigation."""
    started = time.monotonic()
    refused(stage.call("navigate", url=nowhere), "remote_error")
    assert time.monotonic() - started < 20


def test_navigating_to_a_refused_connection_reports_its_reason(stage: Stage, nowhere: str) -> None:
    """A refused connection is reported with the browser's own reason and what to check."""
    text = refused(stage.call("navigate", url=nowhere), "remote_error")
    begin = "NS_ERROR" if stage.browser == "firefox" else "net::ERR"
    assert f"{nowhere} could not be loaded: {begin}_CONNECTION_REFUSED." in text
    assert "Check the address" in text


def test_navigating_to_an_unknown_host_reports_its_reason(stage: Stage) -> None:
    """A host name that cannot be resolved is a remote_error with the browser's own reason."""
    text = refused(stage.call("navigate", url="http://no-such-host.invalid/"), "remote_error")
    reason = "NS_ERROR_UNKNOWN_HOST" if stage.browser == "firefox" else "net::ERR_NAME_NOT_RESOLVED"
    assert f"could not be loaded: {reason}" in text


def test_navigating_to_a_401_reports_that_it_asks_for_user_and_password(stage: Stage) -> None:
    """A page behind HTTP authentication is a remote_error that names what it requires; Firefox asks by a dialog."""
    wanted = {"WWW-Authenticate": 'Basic realm="vault"'}
    url = stage.site.page("/vault", Reply("no", 401, headers=wanted))
    if stage.browser == "firefox":
        assert (
            "A dialog was dismissed: 'This site is asking you to sign in.'"
            in stage.ok("navigate", url=url)["events"][0]
        )
        return
    text = refused(stage.call("navigate", url=url), "remote_error")
    assert "could not be loaded: net::ERR_INVALID_AUTH_CREDENTIALS. It requires a user and a password" in text


def test_a_user_and_password_in_the_address_open_a_page_behind_http_authentication(stage: Stage) -> None:
    """The browser answers the 401 with the credentials of the address, and the result shows the address without."""

    def guarded(visit: Visit) -> Reply:
        known = visit.headers.get("Authorization") == f"Basic {b64encode(b'ann:pearl').decode()}"
        return Reply("gold") if known else Reply("no", 401, headers={"WWW-Authenticate": 'Basic realm="vault"'})

    url = stage.site.page("/gold", guarded)
    answer = stage.ok("navigate", url=url.replace("://", "://ann:pearl@"))
    assert answer["url"] == url
    assert stage.ok("get_text")["text"] == "gold"


@pytest.mark.parametrize("status", [404, 500])
def test_an_error_page_of_the_server_loads_like_any_page(stage: Stage, status: int) -> None:
    """The content of a page with an error status can be read."""
    url = stage.site.page(f"/status-{status}", Reply("<title>Oh</title>sorry", status))
    assert stage.ok("navigate", url=url)["title"] == "Oh"
    assert stage.ok("get_text")["text"] == "sorry"


@pytest.mark.core
def test_navigate_reports_the_final_url_of_a_redirect(stage: Stage) -> None:
    """The answer has the URL and title of the last page."""
    there = stage.page("there", title="There")
    here = stage.site.page("/redirect", Reply("", 302, headers={"Location": there}))
    answer = stage.ok("navigate", url=here)
    assert (answer["url"], answer["title"]) == (there, "There")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"], ids=["same-origin", "cross-origin"])
def test_a_page_whose_script_leads_back_is_requested_once(stage: Stage, host: str) -> None:
    """A script redirect to the previous page ends there, as one to any other page does."""
    here = stage.show("in", title="Sign in")
    path = f"/guarded-{host}"
    stage.site.page(path, f"<script>location.replace('{here}')</script>")
    answer = stage.ok("navigate", url=stage.site.url(path, host=host))
    assert (answer["url"], answer["title"]) == (here, "Sign in")
    assert len(stage.site.visits(path)) == 1


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({}, "Give either url or history."),
        ({"url": "http://a.test/", "history": "back"}, "Give either url or history."),
        ({"url": "example.com"}, "Url must be absolute, for example https://example.com."),
        ({"url": "javascript:alert(1)"}, "Url cannot be javascript:, use execute_script."),
        ({"history": "sideways"}, "Argument 'history' must be 'back', 'forward' or 'reload'."),
        (
            {"url": "http://a.test/", "waitUntil": "idle"},
            "Argument 'waitUntil' must be 'load', 'none' or 'interactive'.",
        ),
    ],
)
def test_bad_navigate_arguments_are_refused_and_the_page_stays(
    stage: Stage, arguments: dict[str, str], expected: str
) -> None:
    """The error names the required arguments, and the page stays."""
    url = stage.show("here")
    assert expected.casefold() in refused(stage.call("navigate", **arguments), "invalid_argument").casefold()
    assert stage.js("location.href") == url


def test_navigate_with_observe_outline_returns_the_new_outline(stage: Stage) -> None:
    """`observe: outline` shows the new page in the same answer."""
    url = stage.page("<button>Pay</button>", title="Shop")
    answer = stage.ok("navigate", url=url, observe="outline")
    assert answer["outline"].startswith('- button "Pay" [e')
    assert answer["stateChange"]["title"]["to"] == "Shop"
    assert answer["stateChange"]["url"]["to"] == url
    assert answer["stable"] is True
