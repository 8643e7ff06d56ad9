"""Accepted spellings of arguments, and the errors for invalid ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import pytest
from pydantic import Field, model_validator

from orchestrator.actions.forms import SetValue
from orchestrator.errors import InvalidArgument, Unsupported
from orchestrator.models.arguments import names_of, parse_arguments
from orchestrator.models.emulation import Viewport
from orchestrator.models.session import Wire

SECRET = "hunter2-hunter2"


class Part(Wire):
    """A nested model."""

    names: list[str]


class Everything(Wire):
    """An argument of each kind."""

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
def test_arguments_are_accepted_in_the_spellings_that_models_use(
    written: Mapping[str, Any], meant: Mapping[str, Any]
) -> None:
    """Names in either spelling, values as strings, containers as JSON, and null for an omitted one."""
    found = parse_arguments(Everything, written)
    assert {name: getattr(found, name) for name in meant} == meant


NAMES = "someText, count, ratio, on, side, viewport, tags, sizes, free, parts, anything"


@pytest.mark.parametrize(
    ("written", "expected"),
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
def test_an_invalid_argument_is_named_without_its_value(written: Mapping[str, Any], expected: str) -> None:
    """The error names the argument, its valid form and the valid names, and never the value."""
    with pytest.raises(InvalidArgument) as refused:
        parse_arguments(Everything, written)
    assert str(refused.value) == expected


def test_an_error_raised_by_a_validator_keeps_its_code() -> None:
    """A model's validator may raise `unsupported` instead of `invalid_argument`."""
    with pytest.raises(Unsupported):
        parse_arguments(Everything, {"someText": "unsupported"})


def test_argument_names_outside_the_model_are_suggested_too() -> None:
    """The tool's own sessionId is suggested, though it is no field of the action."""
    with pytest.raises(InvalidArgument) as refused:
        parse_arguments(SetValue, {"selector": "#a", "value": SECRET, "sesionId": "a"}, also=["sessionId"])
    assert str(refused.value) == (
        "Unknown argument 'sesionId'. Did you mean 'sessionId'? "
        "Valid: selector, value, submit, keystrokes, observe, timeout, sessionId."
    )


def test_an_actions_own_arguments_are_listed_before_common_ones() -> None:
    """The action's own arguments come first in the list of valid names."""
    assert names_of(SetValue) == ["selector", "value", "submit", "keystrokes", "observe", "timeout"]
