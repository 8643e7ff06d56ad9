"""Forms that the browser does not submit: the result has the fields and the browser's own sentences."""

from __future__ import annotations

from typing import Any

import pytest

from tests.e2e.stage import Stage

pytestmark = pytest.mark.full

FORM = (
    "<form id=f {form} onsubmit=\"event.preventDefault(); out.textContent = 'sent'\">"
    "<label>Email <input id=mail type=email required></label>"
    "<button id=go {button}>Send</button></form><p id=out></p>"
)


def form(*, form: str = "", button: str = "") -> str:
    """Return a form with one field, and with these attributes."""
    return FORM.format(form=form, button=button)


def invalid(result: dict[str, Any]) -> list[dict[str, str]]:
    """Return the invalid fields in a result."""
    fields: list[dict[str, str]] = result.get("stateChange", {}).get("invalid", [])
    return fields


def names(result: dict[str, Any]) -> list[str]:
    """Return the names of the invalid fields in a result."""
    return [one["field"] for one in invalid(result)]


def sentence(stage: Stage, element: str = "mail") -> str:
    """Return the browser's sentence about a field."""
    said: str = stage.js(f"{element}.validationMessage")
    assert said
    return said


SUBMITS: dict[str, tuple[str, dict[str, Any]]] = {
    "click": ("click_element", {"selector": "#go"}),
    "press-enter": ("press_keys", {"selector": "#mail", "keys": "Enter"}),
    "set-value": ("set_value", {"selector": "#mail", "value": "ann", "submit": True}),
    "sequence": (
        "execute_sequence",
        {"actions": [{"action": "set_value", "selector": "#mail", "value": "ann"},
                     {"action": "click_element", "selector": "#go"}]},
    ),
}  # fmt: skip


@pytest.mark.core
@pytest.mark.parametrize("way", SUBMITS)
def test_a_form_that_the_browser_does_not_submit_tells_the_field_and_why(way: str, stage: Stage) -> None:
    """The browser's own sentence is in data and text; a second try tells it again."""
    tool, arguments = SUBMITS[way]
    stage.show(form())
    for _ in range(2):
        answer = stage.call(tool, **arguments)
        assert invalid(answer.data) == [{"field": "Email", "message": sentence(stage)}]
        assert f"Invalid:\n- Email: {sentence(stage)}" in answer.text
        assert "Nothing visible changed" not in answer.text
    assert stage.js("out.textContent") == ""


@pytest.mark.core
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"], ids=["same-origin", "cross-origin"])
def test_a_form_in_a_frame_tells_its_fields(stage: Stage, host: str) -> None:
    """In frames of the same and of another origin."""
    inner = stage.page(form(), title="Inner").replace("127.0.0.1", host)
    stage.show(f"<iframe src='{inner}' width=600 height=300></iframe>")
    assert names(stage.ok("click_element", selector="#go")) == ["Email"]
    assert names(stage.ok("set_value", selector="iframe >> #mail", value="ann", submit=True)) == ["Email"]


@pytest.mark.core
def test_a_form_in_a_shadow_root_tells_its_fields(stage: Stage) -> None:
    """Also if the shadow root came after the sequence had begun."""
    stage.show("<div id=host></div><button onclick='make()'>Open</button>")
    stage.js(f"window.make = () => {{ host.attachShadow({{mode: 'open'}}).innerHTML = {form()!r} }}, 1")
    opens, sends = {"action": "click_element", "selector": "text=Open"}, {"action": "click_element", "selector": "#go"}
    assert names(stage.ok("execute_sequence", actions=[opens, sends])) == ["Email"]
    assert names(stage.ok("click_element", selector="#go")) == ["Email"]


@pytest.mark.core
def test_a_form_on_a_page_that_the_sequence_opened_tells_its_fields(stage: Stage) -> None:
    """By Enter in the field that the page focuses."""
    url = stage.page(form().replace("required", "required autofocus"))
    stage.show("<p>before</p>")
    steps = [{"action": "navigate", "url": url}, {"action": "press_keys", "keys": "Enter"}]
    assert names(stage.ok("execute_sequence", actions=steps)) == ["Email"]


@pytest.mark.core
@pytest.mark.parametrize(("attribute", "place"), [("novalidate", "form"), ("formnovalidate", "button")])
def test_a_form_without_validation_is_sent(attribute: str, place: str, stage: Stage) -> None:
    """Nothing is called invalid, even if the page itself checks the fields."""
    html = form(**{place: attribute}).replace("event.preventDefault();", "event.preventDefault(); f.checkValidity();")
    stage.show(html)
    result = stage.ok("click_element", selector="#go")
    assert [line.partition(":")[2].strip() for line in result["stateChange"]["appeared"]] == ["sent"]
    assert stage.js("out.textContent") == "sent"


@pytest.mark.core
def test_a_refusal_is_told_once(stage: Stage) -> None:
    """What is done next to the page has its own result."""
    stage.show(form() + "<button onclick=\"out.textContent = 'Help'\">Help</button>")
    assert names(stage.ok("click_element", selector="#go")) == ["Email"]
    assert names(stage.ok("click_element", selector="text=Help")) == []


@pytest.mark.core
def test_the_pages_own_sentence_is_told(stage: Stage) -> None:
    """`setCustomValidity`, on one line; without it the form is sent."""
    stage.show(form())
    stage.js("mail.value = 'ann@b.org', mail.setCustomValidity('Only\\n our   customers')")
    assert invalid(stage.ok("click_element", selector="#go")) == [{"field": "Email", "message": "Only our customers"}]
    stage.js("mail.setCustomValidity('')")
    result = stage.ok("click_element", selector="#go")
    assert (invalid(result), stage.js("out.textContent")) == ([], "sent")


@pytest.mark.core
def test_a_page_that_shows_the_refusal_itself_is_reported_with_it(stage: Stage) -> None:
    """What it shows is a change, and the field is told, too."""
    stage.show(form())
    stage.js("mail.oninvalid = event => { event.preventDefault(); out.textContent = 'An address, please' }, 1")
    result = stage.ok("click_element", selector="#go")
    assert "text: An address, please" in result["stateChange"]["appeared"]
    assert names(result) == ["Email"]


@pytest.mark.core
def test_a_step_of_a_form_that_the_page_checks_tells_the_field(stage: Stage) -> None:
    """`reportValidity()`, with which the browser shows its sentence at the first field."""
    stage.show(form() + "<button onclick='f.reportValidity()'>Next</button>")
    assert names(stage.ok("click_element", selector="text=Next")) == ["Email"]


def test_fields_that_a_page_only_looks_at_are_not_told(stage: Stage) -> None:
    """`checkValidity()` at every key, for a button that is enabled in the end, refuses nothing."""
    stage.show(form() + "<label>City <input id=city oninput='f.checkValidity(); out.textContent = value'></label>")
    result = stage.ok("set_value", selector="#city", value="Ulm", observe="change")
    assert "text: Ulm" in result["stateChange"]["appeared"]
    assert invalid(result) == []


@pytest.mark.core
def test_a_field_that_no_one_sees_is_told(stage: Stage) -> None:
    """A required select behind a widget: no browser shows anything, and the form is not sent."""
    hidden = "<select id=size name=size aria-label=Size required style='display:none'><option value=''>?</select>"
    stage.show(form().replace("<button", f"{hidden}<button"))
    stage.js("mail.value = 'ann@b.org'")
    assert invalid(stage.ok("click_element", selector="#go")) == [{"field": "Size", "message": sentence(stage, "size")}]


@pytest.mark.core
def test_a_nameless_field_is_told_by_its_line(stage: Stage) -> None:
    """The line has the ref to act on it."""
    stage.show(form().replace("Email", "").replace("button id=go", "button id=go aria-label=Send"))
    [field] = names(stage.ok("click_element", selector="#go"))
    stage.ok("set_value", selector=field.partition("[")[2].partition("]")[0], value="ann@b.org")
    assert stage.js("mail.value") == "ann@b.org"


@pytest.mark.core
def test_ten_fields_are_told_and_the_rest_counted(stage: Stage) -> None:
    """In the order of the form."""
    fields = "".join(f"<input aria-label=F{n} required>" for n in range(13))
    stage.show(f"<form>{fields}<button id=go>Send</button></form>")
    stage.ok("click_element", selector="#go")
    result = stage.ok("click_element", selector="#go")
    assert names(result) == [f"F{n}" for n in range(10)]
    assert result["stateChange"]["more"] == 3


@pytest.mark.core
def test_no_sentence_contains_a_password(stage: Stage) -> None:
    """Not even a sentence of the page's."""
    stage.show(form().replace("type=email", "type=password value=hunter2"))
    stage.js("mail.setCustomValidity('hunter2 is too weak: ' + 'x'.repeat(500))")
    answer = stage.call("click_element", selector="#go")
    [told] = invalid(answer.data)
    assert told["message"].startswith("••• is too weak: xxx")
    assert len(told["message"]) <= 201
    assert "hunter2" not in answer.text


def test_a_custom_element_that_takes_part_in_the_form_is_told(stage: Stage) -> None:
    """Its sentence is known to itself alone."""
    stage.show(form().replace("<button", "<x-stars aria-label=Stars tabindex=0>☆☆☆</x-stars><button"))
    stage.js("""mail.value = 'ann@b.org', customElements.define('x-stars', class extends HTMLElement {
      static formAssociated = true;
      constructor() { super(); this.attachInternals().setValidity({valueMissing: true}, 'Rate it', this) }
    })""")
    assert invalid(stage.ok("click_element", selector="#go")) == [{"field": "Stars", "message": "not valid"}]


def test_an_event_that_the_page_sends_itself_refuses_nothing(stage: Stage) -> None:
    """Only the browser's own events count."""
    stage.show(form() + "<button onclick=\"mail.dispatchEvent(new Event('invalid')); mail.focus()\">Look</button>")
    assert invalid(stage.ok("click_element", selector="text=Look")) == []
