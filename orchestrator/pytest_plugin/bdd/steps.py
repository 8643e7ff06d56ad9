"""The ready-made steps: what a user opens, does and sees."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from orchestrator.pytest_plugin.bdd.phrases import phrase
from orchestrator.pytest_plugin.eventually import eventually

if TYPE_CHECKING:
    from orchestrator.pytest_plugin.bdd.world import ScenarioWorld

_SELECTOR = re.compile(r"\w+=|[#.~/\[]")
"""The beginning of what is a selector and no name."""
_WAIT = 5.0
"""Seconds within which something is seen, where a step names none."""


@phrase("{user} is on {platform}")
def is_on(world: ScenarioWorld, user: str, platform: str) -> None:
    """Start the user's session on a platform: web, ios or android."""
    world.user(user, platform=platform)


@phrase("{user} has signed in as {role}")
def has_signed_in(world: ScenarioWorld, user: str, role: str) -> None:
    """Start the user's session with the login of a role, of the fixture `logins`."""
    world.user(user, login=role)


@phrase("{user} opens {url}")
@phrase("{user} has opened {url}")
def opens(world: ScenarioWorld, user: str, url: str) -> None:
    """Open a page; the user's session is started if there is none."""
    world.user(user).navigate(url)


@phrase("{user} taps/clicks {element}")
def taps(world: ScenarioWorld, user: str, element: str) -> None:
    """Click an element, or tap it in an app."""
    world.sessions[user].click_element(_locate(element, "text"))


@phrase("{user} fills in {field} with {value}")
def fills_in(world: ScenarioWorld, user: str, field: str, value: str) -> None:
    """Set the value of a field, checkbox or the like."""
    world.sessions[user].set_value(_locate(field, "label"), value)


@phrase("{user} fills in {field} with:")
def fills_in_text(world: ScenarioWorld, user: str, field: str, docstring: str | None = None) -> None:
    """Set the value of a field to the doc string."""
    world.sessions[user].set_value(_locate(field, "label"), _given(docstring, "doc string"))


@phrase("{user} fills in:")
def fills_in_all(world: ScenarioWorld, user: str, datatable: Sequence[Sequence[str]] | None = None) -> None:
    """Set the values of several fields: a table with a field and its value in each row."""
    for field, value in _given(datatable, "table"):
        world.sessions[user].set_value(_locate(field, "label"), value)


@phrase("{user} enters {value} in {field}")
def enters(world: ScenarioWorld, user: str, value: str, field: str) -> None:
    """Set the value of a field and press Enter there."""
    world.sessions[user].set_value(_locate(field, "label"), value, submit=True)


@phrase("{user} chooses {option} in {field}")
def chooses(world: ScenarioWorld, user: str, option: str, field: str) -> None:
    """Choose an option of a select."""
    world.sessions[user].select_option(_locate(field, "label"), [option])


@phrase("{user} presses {keys}")
def presses(world: ScenarioWorld, user: str, keys: str) -> None:
    """Press keys, such as Escape or Control+A."""
    world.sessions[user].press_keys(keys)


@phrase("{user} runs the script( as {variable}):")
def runs(world: ScenarioWorld, user: str, variable: str | None = None, docstring: str | None = None) -> None:
    """Run the doc string as a script of `run_script`; its result is the variable."""
    _run(world, user, _given(docstring, "doc string"), variable)


@phrase("{user} runs the script {path}( as {variable})")
def runs_file(world: ScenarioWorld, user: str, path: str, variable: str | None = None) -> None:
    """Run a script in a file beside the feature file; its result is the variable."""
    _run(world, user, (world.folder / path).read_text("utf-8"), variable)


@phrase("{user} keeps the text of {element} as {variable}")
def keeps(world: ScenarioWorld, user: str, element: str, variable: str) -> None:
    """Keep the text of an element as a variable: `${variable}` in later steps."""
    world.variables[variable] = world.sessions[user].get_text(_locate(element, "text")).text


@phrase("{user} attaches the text of {element} as {name}")
def attaches(world: ScenarioWorld, user: str, element: str, name: str) -> None:
    """Add the text of an element to the artifacts, as a file."""
    world.attach(name, world.sessions[user].get_text(_locate(element, "text")).text)


@phrase("{user} sees {text}( within {seconds} s)")
def sees(world: ScenarioWorld, user: str, text: str, seconds: str | None = None) -> None:
    """Expect that an element with this text is visible, or becomes so."""
    world.sessions[user].expect(_locate(text, "text"), visible=True, timeout=_milliseconds(seconds))


@phrase("{user} does not see {text}( within {seconds} s)")
def does_not_see(world: ScenarioWorld, user: str, text: str, seconds: str | None = None) -> None:
    """Expect that no element with this text is visible, or that it goes."""
    world.sessions[user].expect(_locate(text, "text"), visible=False, timeout=_milliseconds(seconds))


@phrase("{user} sees {text} in {element}( within {seconds} s)")
def sees_in(world: ScenarioWorld, user: str, text: str, element: str, seconds: str | None = None) -> None:
    """Expect that an element contains a text."""
    selector = _locate(element, "label")
    world.sessions[user].expect(selector, contains_text=text, timeout=_milliseconds(seconds))


@phrase("{user} sees( within {seconds} s):")
def sees_all(
    world: ScenarioWorld,
    user: str,
    seconds: str | None = None,
    datatable: Sequence[Sequence[str]] | None = None,
) -> None:
    """Expect each text of a table."""
    for row in _given(datatable, "table"):
        for text in row:
            world.sessions[user].expect(_locate(text, "text"), visible=True, timeout=_milliseconds(seconds))


@phrase("all see {text}( within {seconds} s)")
def all_see(world: ScenarioWorld, text: str, seconds: str | None = None) -> None:
    """Expect in every session that an element with this text is visible."""
    for session in world.sessions.values():
        session.expect(_locate(text, "text"), visible=True, timeout=_milliseconds(seconds))


@phrase("all see the same {what}( but for {element})")
def all_see_the_same(
    world: ScenarioWorld, what: Literal["text", "elements", "screenshot"], element: str | None = None
) -> None:
    """Expect that all sessions show the same text, elements or screenshot now, but for a part."""
    world.sessions.expect_same(of=what, ignore=[_locate(element, "label")] if element else [])


@phrase("all see the same in {element}( within {seconds} s)")
def all_see_the_same_in(world: ScenarioWorld, element: str, seconds: str | None = None) -> None:
    """Expect that an element has the same text in all sessions, or gets it."""
    __tracebackhide__ = True
    selector = _locate(element, "label")

    def same() -> bool:
        texts = {name: session.get_text(selector).text for name, session in world.sessions.items()}
        if len({*texts.values()}) > 1:
            listed = "\n".join(f"{name}: {text!r}" for name, text in texts.items())
            raise AssertionError(f"Not the same in {selector}:\n{listed}")
        return True

    eventually(same, timeout=_WAIT if seconds is None else float(seconds))


def _locate(named: str, kind: str) -> str:
    """Return a selector as it is, and that of a kind for a name."""
    return named if _SELECTOR.match(named) else f"{kind}={named}"


def _milliseconds(seconds: str | None) -> int:
    return round(1000 * (_WAIT if seconds is None else float(seconds)))


def _given(value: Any, kind: str) -> Any:
    if value is None:
        raise AssertionError(f"This step needs a {kind} below it.")
    return value


def _run(world: ScenarioWorld, user: str, script: str, variable: str | None) -> None:
    result = world.sessions[user].run_script(script)
    if variable:
        world.variables[variable] = str(result.value)
