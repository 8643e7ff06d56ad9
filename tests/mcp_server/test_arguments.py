"""What a caller may write for an argument, and what it hears when that means nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import pytest
from pydantic import Field, model_validator

from orchestrator.actions.keyboard import SetValue
from orchestrator.arguments import names_of, read
from orchestrator.emulation import Viewport
from orchestrator.errors import InvalidArgument, Unsupported
from orchestrator.models import Wire

SECRET = "hunter2-hunter2"


class Part(Wire):
    """Something inside of something."""

    names: list[str]


class Everything(Wire):
    """One argument of each kind."""

    some_text: str = ""
    count: int | None = Field(default=None, le=9)
    ratio: float = 1.0
    on: bool = False
    side: Literal["left", "right"] = "left"
    viewport: Viewport | None = None
    tags: Annotated[list[str], Field(description="Words.")] = Field(default_factory=list)
    sizes: tuple[int, ...] = ()
    free: dict[str, Any] = Field(default_factory=dict)
    parts: list[Part] = Field(default_factory=list)
    anything: Any = None

    @model_validator(mode="after")
    def _agree(self) -> Everything:
        if self.side == "right" and not self.on:
            raise ValueError("side right needs on")
        if self.some_text == "unsupported":
            raise Unsupported("Not here.")
        if self.some_text == "refused":
            raise InvalidArgument("It is refused.", hint="Write something else.")
        return self


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ({"someText": "a"}, {"some_text": "a"}),
        ({"some_text": "a"}, {"some_text": "a"}),
        ({"count": "5"}, {"count": 5}),
        ({"ratio": "0.5"}, {"ratio": 0.5}),
        ({"on": "true"}, {"on": True}),
        ({"someText": 42}, {"some_text": "42"}),
        ({"someText": "[1]"}, {"some_text": "[1]"}),
        ({"count": None, "someText": None}, {"count": None, "some_text": ""}),
        ({"viewport": '{"width": "800", "height": 600}'}, {"viewport": Viewport(width=800, height=600)}),
        ({"tags": '["a", 5]'}, {"tags": ["a", "5"]}),
        ({"sizes": "[1, 2]"}, {"sizes": (1, 2)}),
        ({"free": '{"a": null, "b": "5"}'}, {"free": {"a": None, "b": "5"}}),
        ({"parts": ['{"names": ["a"]}', {"names": '["b"]'}]}, {"parts": [Part(names=["a"]), Part(names=["b"])]}),
        ({"anything": "[1]"}, {"anything": "[1]"}),
    ],
)
def test_what_is_meant_is_understood(written: Mapping[str, Any], meant: Mapping[str, Any]) -> None:
    """Both spellings, values as strings, containers as JSON, and null for what is left out."""
    found = read(Everything, written)
    assert {name: getattr(found, name) for name in meant} == meant


NAMES = "someText, count, ratio, on, side, viewport, tags, sizes, free, parts, anything"


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ({"cuont": 1}, f"Unknown argument 'cuont'. Did you mean 'count'? Valid: {NAMES}."),
        ({"zzz": 1}, f"Unknown argument 'zzz'. Valid: {NAMES}."),
        ({"count": 1, "Count": 2}, f"Unknown argument 'Count'. Did you mean 'count'? Valid: {NAMES}."),
        ({"someText": "a", "some_text": "b"}, "Argument 'someText' is given twice. Write it once, in camelCase."),
        ({"someText": [SECRET]}, "Argument 'someText' must be text."),
        ({"count": SECRET}, "Argument 'count' must be a whole number."),
        ({"count": 1.5}, "Argument 'count' must be a whole number."),
        ({"count": 10}, "Argument 'count' must be less than or equal to 9."),
        ({"ratio": SECRET}, "Argument 'ratio' must be a number."),
        ({"on": SECRET}, "Argument 'on' must be true or false."),
        ({"side": SECRET}, "Argument 'side' must be 'left' or 'right'."),
        ({"viewport": SECRET}, "Argument 'viewport' must be an object."),
        ({"viewport": {"width": 1}}, "Argument 'viewport.height' is missing. Valid: width, height."),
        ({"tags": SECRET}, "Argument 'tags' must be an array."),
        ({"sizes": [1, SECRET]}, "Argument 'sizes[1]' must be a whole number."),
        ({"free": [SECRET]}, "Argument 'free' must be an object."),
        (
            {"parts": [{"name": [SECRET]}]},
            (
                "Argument 'parts[0].names' is missing. Unknown argument 'parts[0].name'. "
                "Did you mean 'names'? Valid: names."
            ),
        ),
        ({"side": "right"}, "side right needs on."),
        ({"someText": "refused"}, "It is refused. Write something else."),
    ],
)
def test_what_is_wrong_is_named(written: Mapping[str, Any], told: str) -> None:
    """The argument, what it must be, and for a wrong name the valid ones; never the value."""
    with pytest.raises(InvalidArgument) as refused:
        read(Everything, written)
    assert str(refused.value) == told


def test_an_error_of_another_code_keeps_it() -> None:
    """A model may find that something is not wrong but not possible."""
    with pytest.raises(Unsupported):
        read(Everything, {"someText": "unsupported"})


def test_names_read_by_others_are_offered_too() -> None:
    """The tool's own sessionId is no field of an action."""
    with pytest.raises(InvalidArgument) as refused:
        read(SetValue, {"selector": "#a", "value": SECRET, "sesionId": "a"}, also=["sessionId"])
    assert str(refused.value) == (
        "Unknown argument 'sesionId'. Did you mean 'sessionId'? "
        "Valid: selector, value, submit, keystrokes, observe, timeout, sessionId."
    )


def test_own_arguments_come_before_common_ones() -> None:
    """The first names that a reader sees are what the action is about."""
    assert names_of(SetValue) == ["selector", "value", "submit", "keystrokes", "observe", "timeout"]
