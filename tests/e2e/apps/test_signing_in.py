"""The same form in a page, on iOS and on Android, filled in by the same steps."""

from __future__ import annotations

import pytest

from tests.e2e.apps.phone import LOG_IN, Phone
from tests.e2e.stage import Stage, refused

pytestmark = pytest.mark.full

FORM = """<h1>Pocket</h1><label>Email <input id=email data-testid=emailField></label>
<label>Password <input type=password data-testid=passwordField></label>
<button data-testid=loginButton onclick="document.body.innerHTML = `<p>Welcome ${email.value}`">Log in</button>"""


@pytest.mark.smoke
def test_one_set_of_steps_signs_in_on_ios_and_android_without_showing_the_password(phone: Phone) -> None:  # W2 W42
    """The answer reports the new screen without the password."""
    phone.restart()
    answer = phone.call("execute_sequence", actions=LOG_IN, verbose=True)
    assert not answer.failed, answer.text
    assert answer.data["completed"] == 3
    assert answer.data["stable"]
    assert any(line.startswith('heading "Home" [e') for line in answer.data["stateChange"]["appeared"])
    assert "correct horse" not in answer.text
    assert "Welcome ann@example.org" in phone.text()


@pytest.mark.parametrize("field", ["#email", "~emailField"])
def test_the_sign_in_steps_of_the_apps_work_on_a_web_page(stage: Stage, field: str) -> None:  # W42
    """The field is found by its CSS id, or by the accessibility id that it has in the apps."""
    stage.show(FORM, sessionId="web")
    steps = [{**LOG_IN[0], "selector": field}, *LOG_IN[1:]]
    assert stage.ok("execute_sequence", actions=steps, sessionId="web")["completed"] == 3
    assert stage.ok("get_text", sessionId="web")["text"] == "Welcome ann@example.org"


def test_a_browser_cannot_begin_with_the_login_of_an_app(phone: Phone) -> None:
    """The start is refused before anything is launched, and says how an app keeps its login."""
    text = refused(phone.stage.call("start_browser", sessionId="copy", loginFrom=phone.name), "unsupported")
    assert f"loginFrom: '{phone.name}' is not a browser session. An app keeps its login with noReset." in text
    assert "copy" not in [row["sessionId"] for row in phone.stage.ok("list_sessions")["sessions"]]


def test_an_app_password_is_masked_in_the_outline_and_the_page_source(phone: Phone) -> None:
    """The outline masks a password, and the page source does not show it."""
    phone.restart()
    phone.ok("set_value", selector="~passwordField", value="tell nobody")
    [line] = [line for line in phone.outline() if "assword" in line and line.startswith("textbox")]
    assert line.endswith('= "•••"')
    assert "tell nobody" not in phone.call("get_page_source").text


def test_two_phones_sign_in_by_one_execute_parallel_call(stage: Stage) -> None:  # W2
    """Both phones run the steps at the same time, in one call."""
    for name in ("ios", "android"):
        Phone(stage, name, name).restart()
    answer = stage.ok("execute_parallel", sequences=[{"sessionIds": ["ios", "android"], "actions": LOG_IN}])
    assert {name: result["completed"] for name, result in answer["results"].items()} == {"ios": 3, "android": 3}


def test_a_secret_by_name_is_not_typed_into_an_apps_screen(phone: Phone) -> None:
    """An app's screen has no origin to check; the refusal says where secrets can be typed."""
    phone.restart()
    for tool, name in (("set_value", "value"), ("press_keys", "text")):
        text = refused(phone.call(tool, selector="~passwordField", **{name: "secret:ANY"}), "unsupported")
        assert "secret:ANY is not typed into an app's own screen" in text
        assert "In a web view it is; Python and the command line" in text
    assert not any("•••" in line for line in phone.outline())
