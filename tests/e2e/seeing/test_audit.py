"""audit_page: violations of accessibility rules, with refs, in a page, its shadow roots and its frames."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.e2e.stage import Stage, refused
from tests.servers.mcp import served
from tests.servers.site import Reply, Site

pytestmark = pytest.mark.full

PIXEL = "data:image/gif;base64,R0lGODlhAQABAAAAACw="
CLEAN = "<html lang=en><main><h1>Shop</h1><label>Card <input id=card></label><button>Pay</button></main>"
FAULTY = f"""<html lang=en><main><h1>Shop</h1><img id=logo src={PIXEL} width=20 height=20>
<input id=card><p id=pale style='color:#ccc;background:#fff'>Pale words</p><div id=host></div>
<iframe title=Inner width=300 height=100 srcdoc="<button id=inner style='width:30px;height:20px'></button>"></iframe>
</main><script>
host.attachShadow({{mode: 'open'}}).innerHTML = "<select id=deep onclick='this.clicked = 1'><option>A</select>";
</script>"""
FAULTS = {
    "image-alt": "#logo",
    "label": "#card",
    "color-contrast": "#pale",
    "select-name": "#deep",
    "button-name": "#inner",
}


@pytest.fixture(scope="module")
def webkitgtk(needs_webkitgtk: None) -> Iterator[Stage]:  # noqa: ARG001 — asked for first
    """A browser without isolated worlds."""
    with Site() as site, served(namespace="audit", tools="all") as server:
        server.ok("start_browser", browser="webkitgtk", sessionId="browser")
        yield Stage(server, site, "webkitgtk")


def broken(audited: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """Return the elements of each broken rule."""
    return {one["rule"]: one["elements"] for one in audited["violations"]}


def check_faults(stage: Stage) -> None:
    """Check that each fault of FAULTY is found, with a ref that leads to its element."""
    stage.show(FAULTY)
    answer = stage.call("audit_page")
    found = broken(answer.data)
    assert found.keys() == FAULTS.keys(), answer.text
    for rule, selector in FAULTS.items():
        [element] = found[rule]
        assert element["line"] in answer.text
        assert element["problem"] in answer.text
        same = {"script": "return args[0] === args[1]", "args": [{"ref": element["ref"]}, {"selector": selector}]}
        assert stage.ok("execute_script", **same)["value"] is True
    impacts = [one["impact"] for one in answer.data["violations"]]
    assert impacts == sorted(impacts, key=["critical", "serious", "moderate", "minor"].index)
    assert answer.data["documents"] == 2


def test_each_fault_of_a_page_is_found_with_its_element(stage: Stage) -> None:
    """Also in a shadow root and in a frame; most severe first, with what is wrong."""
    check_faults(stage)


def test_refs_of_an_audit_are_acted_on(stage: Stage) -> None:
    """They are refs like those of an outline."""
    stage.show(FAULTY)
    found = broken(stage.ok("audit_page"))
    stage.ok("set_value", selector=found["label"][0]["ref"], value="4321")
    assert stage.js("card.value") == "4321"
    stage.ok("click_element", selector=found["select-name"][0]["ref"])
    assert stage.js("host.shadowRoot.querySelector('select').clicked") == 1
    assert stage.ok("get_text", selector=found["color-contrast"][0]["ref"])["text"] == "Pale words"


def test_a_page_without_faults_has_no_violations(stage: Stage) -> None:
    """The text says so, and how many rules passed."""
    stage.show(CLEAN)
    answer = stage.call("audit_page")
    assert answer.data["violations"] == []
    assert answer.data["passed"] > 10
    assert answer.text.startswith(f"No violations; passed: {answer.data['passed']}, ")


def test_a_frame_of_another_site_is_checked_by_itself(stage: Stage) -> None:
    """A frame in it, too; both are spared the rules about a whole page."""
    deep = stage.page(f"<img id=deep src={PIXEL} width=20 height=20>")
    far = stage.page(f"<input id=far><iframe title=Deep src='{deep}'></iframe>").replace("127.0.0.1", "localhost")
    stage.show(f"<html lang=en><main><h1>Out</h1><iframe title=Far src='{far}' width=400 height=300></iframe></main>")
    audited = stage.ok("audit_page")
    assert broken(audited).keys() == {"label", "image-alt"}
    assert audited["documents"] == 3
    stage.ok("set_value", selector=broken(audited)["label"][0]["ref"], value="4321")
    assert not stage.call("expect", selector="#far", value="4321").failed


def test_a_frame_that_is_not_seen_is_not_checked(stage: Stage) -> None:
    """Nobody can use what is in it."""
    stage.show(f"{CLEAN}<iframe hidden title=Far srcdoc='<input>'></iframe>")
    audited = stage.ok("audit_page")
    assert (audited["violations"], audited["documents"]) == ([], 1)


def test_an_audit_of_an_element_leaves_out_the_rest(stage: Stage) -> None:
    """A selector may also lead into a frame of another site."""
    far = stage.page("<section><input></section><select><option>A</select>").replace("127.0.0.1", "localhost")
    stage.show(f"<div id=a><input></div><select><option>A</select><iframe id=f src='{far}'></iframe>")
    assert broken(stage.ok("audit_page", selector="#a")).keys() == {"label"}
    assert broken(stage.ok("audit_page", selector="#f >> section")).keys() == {"label"}
    refused(stage.call("audit_page", selector="#none"), "element_not_found")


def test_an_audit_in_a_frame_that_the_session_went_to_leaves_out_the_rest(stage: Stage) -> None:
    """As the outline does."""
    stage.show("<input><iframe id=f srcdoc='<select><option>A</select>'></iframe>")
    stage.ok("switch_frame", selector="#f")
    assert broken(stage.ok("audit_page")).keys() == {"select-name"}
    stage.ok("switch_frame")


def test_rules_are_chosen_by_name_or_by_tag(stage: Stage) -> None:
    """Without a choice these are axe-core's own: no experimental ones, none of level AAA."""
    stage.show(FAULTY)
    assert broken(stage.ok("audit_page", rules=["label", "color-contrast"])).keys() == {"label", "color-contrast"}
    assert broken(stage.ok("audit_page", tags=["wcag2aa"])).keys() == {"color-contrast"}
    assert "html-has-lang" not in broken(stage.ok("audit_page", rules=["image-alt", "html-has-lang"]))


def test_rules_and_tags_that_do_not_exist_are_refused_with_those_that_do(stage: Stage) -> None:
    """The nearest are named."""
    stage.show(CLEAN)
    text = refused(stage.call("audit_page", rules=["label", "image-alr"]), "invalid_argument")
    assert "axe-core has no rule 'image-alr'. Did you mean 'image-alt'?" in text
    text = refused(stage.call("audit_page", tags=["wcag-aa"]), "invalid_argument")
    assert "axe-core has no tag 'wcag-aa'." in text
    assert "wcag2aa" in text


def test_of_many_elements_the_first_are_listed_and_the_others_counted(stage: Stage) -> None:
    """`limit` says how many, and a long answer is cut to `max_output` like any other."""
    stage.show("<html lang=en><main><h1>Many</h1>" + "<input>" * 300)
    answer = stage.call("audit_page")
    [found] = answer.data["violations"]
    assert (found["total"], len(found["elements"])) == (300, 5)
    assert "  … and 295 more" in answer.text
    assert "raise limit" in answer.data["next"]
    assert len(broken(stage.ok("audit_page", limit=40))["label"]) == 40


def test_contrast_is_left_out_of_a_huge_page_unless_it_is_asked_for(stage: Stage) -> None:
    """Measuring it would keep the page busy for longer than a call may take; the warning says what to do."""
    stage.show("<html lang=en><main><h1>Long</h1>" + "<br>" * 16_000 + "<p id=p style='color:#eee'>Pale")
    audited = stage.ok("audit_page")
    assert audited["violations"] == []
    [warning] = audited["warnings"]
    assert warning.startswith("color-contrast was not checked: the page is so large")
    assert "color-contrast" in broken(stage.ok("audit_page", selector="#p"))


def test_a_strict_content_security_policy_does_not_prevent_an_audit(stage: Stage) -> None:
    """The page itself can run nothing."""
    policy = {"Content-Security-Policy": "default-src 'none'; require-trusted-types-for 'script'"}
    stage.ok("navigate", url=stage.site.page("/strict", Reply("<!doctype html><input>", headers=policy)))
    assert "label" in broken(stage.ok("audit_page"))


def test_a_document_without_scripting_is_checked(stage: Stage) -> None:
    """Its timers never fire; nor do those of a sandboxed frame."""
    sandbox = {"Content-Security-Policy": "sandbox"}
    html = "<!doctype html><input><iframe sandbox title=Inner srcdoc='<select><option>A</select>'></iframe>"
    stage.ok("navigate", url=stage.site.page("/sandboxed", Reply(html, headers=sandbox)))
    assert {"label", "select-name"} <= broken(stage.ok("audit_page")).keys()


def test_a_page_can_neither_forge_nor_see_an_audit(stage: Stage) -> None:
    """Built-ins that it replaced are not used, its own `axe` is left alone, and no message reaches it."""
    stage.show(
        "<script>RegExp.prototype.test = () => true; Array.prototype.map = Array.prototype.filter = () => [];"
        "Element.prototype.getAttribute = () => 'x'; Node.prototype.contains = () => false;"
        "window.axe = {mine: true}; heard = 0; addEventListener('message', () => { heard += 1 })</script>"
        "<input><iframe title=Inner srcdoc='<select><option>A</select>'></iframe>"
    )
    assert {"label", "select-name"} <= broken(stage.ok("audit_page")).keys()
    assert stage.js("axe.mine && heard === 0 && frames[0].axe === undefined") is True


def test_a_frame_that_the_driver_cannot_enter_is_listed_as_not_checked(stage: Stage) -> None:
    """A page that broke the driver's own scripts is checked itself."""
    if stage.browser == "firefox":
        pytest.skip("Firefox's driver runs no script of its own in the page: nothing fails there.")
    stage.show("<script>JSON.stringify = () => '{}'</script><input><iframe title=Inner srcdoc='<select>'></iframe>")
    answer = stage.call("audit_page")
    assert "label" in broken(answer.data)
    assert "select-name" not in broken(answer.data)
    [frame] = answer.data["unchecked"]
    assert frame.startswith('iframe "Inner" [e')
    assert f"Not checked: {frame}" in answer.text


def test_an_audit_works_in_the_page_s_own_world(webkitgtk: Stage) -> None:
    """WebKitGTK has no other; the page keeps its own `axe`."""
    check_faults(webkitgtk)
    webkitgtk.show("<script>window.axe = {mine: true}</script><input>")
    webkitgtk.ok("audit_page")
    assert webkitgtk.js("axe.mine") is True
