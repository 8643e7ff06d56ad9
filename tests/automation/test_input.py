"""Pointer, touch and key input as sent over the wire: W3C Perform Actions, in the top document's coordinates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from orchestrator.actions.mouse import ClickElement
from orchestrator.automation import input as inputs
from orchestrator.automation.browser.frames import FrameStep
from orchestrator.automation.keys import KEYS
from orchestrator.automation.scene import Scene
from orchestrator.errors import InvalidArgument, RemoteFailure
from orchestrator.models.session import SessionType
from orchestrator.sessions.turn import CallCancelled
from tests.servers.page_answers import Answer, frame, not_found, outwards, pressed, ready
from tests.servers.scripted_webdriver import ELEMENT, ScriptedWebDriver, W3CError, dialog

MakeScene = Callable[..., Scene]
TEXT = "Two\nlines"
BY_KEYS = ["T", "w", "o", KEYS["Enter"], *"lines"]
CONTROL, SHIFT = KEYS["Control"], KEYS["Shift"]


def test_modifiers_are_down_before_a_click_and_up_after_it_in_reverse(scene: Scene, end: ScriptedWebDriver) -> None:
    """Keys and pointer are two sources with parallel ticks: while one acts, the other pauses."""
    end.script("page.ready", ready(x=60, y=40))
    end.script("POST /actions", None)
    ClickElement(selector="#pay", modifiers=["Control", "Shift"]).act(scene)
    [[keys, mouse]] = end.performed()
    ticks = [(_said(key), _said(pointer)) for key, pointer in zip(keys["actions"], mouse["actions"], strict=True)]
    pointer = ["pointerMove 60,40", "pointerDown 0", "pointerUp 0"]
    assert ticks == [
        (f"keyDown {CONTROL}", "pause"),
        (f"keyDown {SHIFT}", "pause"),
        *(("pause", each) for each in pointer),
        (f"keyUp {SHIFT}", "pause"),
        (f"keyUp {CONTROL}", "pause"),
    ]


def test_a_click_in_a_frame_is_sent_from_the_top_document_to_where_the_frame_stands(
    scene: Scene, end: ScriptedWebDriver
) -> None:
    """The point 20, 10 of a frame drawn at half its size from 100.5, 50 is the point 110, 55 of the viewport."""
    end.always("POST /frame")
    end.script("page.ready", not_found(frame(0, "e3")), ready(x=20, y=10))
    end.script("page.outwards", outwards(100.5, 50, scale=0.5))
    end.script("POST /actions", None)
    end.script("page.pressed", pressed())
    ClickElement(selector="#pay").act(scene)
    assert end.params("page.outwards")[0]["path"] == [0]
    assert _moves(end) == [(110, 55)]
    at = end.asked.index("POST /actions")
    assert end.asked[at - 2 : at] == ["POST /frame top", "page.outwards"]
    assert end.asked[-1] == "POST /frame top"


def test_a_point_in_nested_frames_is_translated_frame_by_frame(scene: Scene, end: ScriptedWebDriver) -> None:
    """Each frame's place is asked of the document around it, from the inside out; then the frame is entered again."""
    end.always("POST /frame")
    end.script("page.outwards", outwards(30, 40), outwards(-25, 100))
    end.script("POST /actions", None)
    scene.finder.frames.switch((FrameStep((0,), "e3"), FrameStep((2,), "e7")))
    inputs.click(scene, (5, 6))
    asked = end.asked[: end.asked.index("POST /actions")]
    entered = ["POST /frame top", "POST /frame 0"]
    assert asked == [*entered, "POST /frame 2", *entered, "page.outwards", "POST /frame top", "page.outwards"]
    assert _moves(end) == [(10, 146)]
    assert end.asked[-3:] == [*entered, "POST /frame 2"]


@pytest.mark.parametrize(
    ("error", "kind", "message"),
    [
        ("move target out of bounds", InvalidArgument, "x 1280, y 0 is outside the viewport"),
        ("unknown error", RemoteFailure, "scripted"),
    ],
)
def test_a_point_beyond_the_edge_of_the_viewport_is_the_callers_mistake(
    scene: Scene, end: ScriptedWebDriver, error: str, kind: type[Exception], message: str
) -> None:
    """Only the driver knows the viewport's edge; its other errors are not taken for this one."""
    end.script("POST /actions", W3CError(error))
    with pytest.raises(kind, match=message) as failed, inputs.refusing_out_of_bounds(1280, 0):
        inputs.touch(scene, inputs.tapped((1280, 0)))
    assert type(failed.value) is kind


@pytest.mark.parametrize(
    ("browser", "how", "inserted", "asked"),
    [
        ("chrome", {}, {}, ["Input.insertText"]),
        ("chrome", {"keystrokes": True}, {}, ["POST /actions"]),
        ("firefox", {}, {"taken": True}, ["page.inserted"]),
        ("firefox", {}, {"taken": False}, ["page.inserted", "POST /actions"]),
    ],
    ids=["devtools", "keystrokes", "page", "page-refuses"],
)
def test_text_is_typed_as_one_input_where_supported_and_else_key_by_key(
    make_scene: MakeScene, end: ScriptedWebDriver, browser: str, how: Answer, inserted: Answer, asked: list[str]
) -> None:
    """Chromium takes the text as one input, other pages may; else keys are sent, with Enter for a line break."""
    end.always("Input.insertText", {})
    end.always("page.inserted", inserted)
    end.always("POST /actions")
    inputs.type_text(make_scene(capabilities={"browserName": browser}), TEXT, **how)
    assert end.asked == asked
    downs = [step["value"] for [keys] in end.performed() for step in keys["actions"] if step["type"] == "keyDown"]
    assert downs == (BY_KEYS if asked[-1] == "POST /actions" else [])


def test_many_keys_are_pressed_a_hundred_at_a_time_until_the_call_is_cancelled(
    scene: Scene, end: ScriptedWebDriver, cancel: Callable[[], None]
) -> None:
    """No command comes near its deadline, and typing stops when the caller has gone."""
    end.script("POST /actions", None, lambda _: cancel())
    with pytest.raises(CallCancelled):
        inputs.press(scene, [["a"]] * 250)
    assert [len(keys["actions"]) for [keys] in end.performed()] == [200, 200]


def test_an_element_that_goes_stale_between_find_and_click_is_reported(
    make_scene: MakeScene, end: ScriptedWebDriver
) -> None:
    """A web view of an iOS app is clicked by element: the driver's own error is reported, and the frame is left."""
    scene = make_scene(type=SessionType.IOS, context="WEBVIEW_1")
    end.always("POST /frame")
    end.script("page.ready", ready(path=[0], handle=True))
    end.script("page.handle", {ELEMENT: "el-1"})
    end.script("POST /element/el-1/click", W3CError("stale element reference"))
    with pytest.raises(RemoteFailure) as failed:
        ClickElement(selector="#pay").act(scene)
    assert failed.value.details["error"] == "stale element reference"
    entered = ["POST /frame top", "POST /frame 0"]
    assert end.asked == ["page.ready", *entered, "page.handle", "POST /element/el-1/click", "POST /frame top"]


def test_an_alert_that_is_open_before_a_click_is_answered_and_the_click_sent_once_more(
    scene: Scene, end: ScriptedWebDriver
) -> None:
    """A dialog keeps the driver from acting at all: the same actions are sent again, and nothing is clicked twice."""
    end.script("page.ready", ready())
    end.script("POST /actions", dialog("Cookies?"), None)
    end.script("POST /alert/dismiss", None)
    ClickElement(selector="#pay").act(scene)
    assert end.asked == ["page.ready", "POST /actions", "POST /alert/dismiss", "POST /actions"]
    assert end.performed()[0] == end.performed()[1]


def _said(step: dict[str, Any]) -> str:
    """Describe a tick of a source in a word or two."""
    if step["type"] == "pointerMove":
        return f"pointerMove {step['x']},{step['y']}"
    return " ".join([step["type"], *(str(step[name]) for name in ("button", "value") if name in step)])


def _moves(end: ScriptedWebDriver) -> list[tuple[int, int]]:
    """Return the pointer moves of the only Perform Actions command."""
    [[pointer]] = end.performed()
    return [(step["x"], step["y"]) for step in pointer["actions"] if step["type"] == "pointerMove"]
