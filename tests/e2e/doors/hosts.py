"""Emulated hosts: real clients of a real server that keep from their model what some hosts keep from it."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, ClassVar, NamedTuple

from mcp.types import ImageContent, TextContent, Tool

from tests.servers.mcp import Answer, Served
from tests.servers.slow_driver import SlowDriver
from tests.waiting import PATIENCE

Schema = dict[str, Any]

OTHERS = 12
"""Tools of a user's other servers, which share the room of a host."""


_KINDS: dict[str, type | tuple[type, ...]] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "array": list,
    "object": dict,
}


class Shown(NamedTuple):
    """What a host shows its model of a result."""

    text: str
    data: dict[str, Any] | None
    images: list[bytes]
    failed: bool

    @property
    def said(self) -> str:
        """All words in it, of the text and of the data."""
        return "\n".join([self.text, *_texts(self.data)])


class Host:
    """A host that shows its model everything, and looks for new tools when the model wants one that it does not know.

    Attributes:
        options: Its options of the server.
        mode: The protocol that it speaks.
        knows_its_haste: True if its model is told that calls must be short.
    """

    options: ClassVar[tuple[str, ...]] = ()
    mode: ClassVar[str] = "auto"
    knows_its_haste: ClassVar[bool] = False

    def __init__(self, server: Served, driver: SlowDriver | None = None) -> None:
        self._server = server
        self._driver = driver
        self._tools = self.listed()

    def listed(self) -> dict[str, Tool]:
        """List the tools as the model gets them."""
        return {tool.name: tool for tool in self._server.tools()}

    def read(self) -> str:
        """Return all that the model reads before its first call."""
        tools = [tool.model_dump(mode="json", by_alias=True) for tool in self._tools.values()]
        return f"{self._server.client.instructions or ''}\n{json.dumps(tools)}"

    def tool(self, name: str) -> Tool:
        """Return a tool that the model may call."""
        if name not in self._tools:
            self._tools = self.listed()
        return self._tools[name]

    def begin(self, name: str, arguments: dict[str, Any]) -> Callable[[], Shown]:
        """Call a tool with arguments that fit its schema; returns a function that waits for the result."""
        problems = list(mismatches(arguments, self.tool(name).input_schema, name))
        assert not problems, problems
        call = self.send(name, arguments)
        return lambda: self.show(call.result(PATIENCE))

    def send(self, name: str, arguments: dict[str, Any]) -> Future[Answer]:
        """Send a call."""
        return self._server.begin(name, **arguments)

    def show(self, answer: Answer) -> Shown:
        """Return what the model sees of an answer."""
        images = [base64.b64decode(part.data) for part in answer.raw.content if isinstance(part, ImageContent)]
        texts = [part.text for part in answer.raw.content if isinstance(part, TextContent)]
        return Shown("\n".join(texts), answer.raw.structured_content, images, answer.failed)


class DataOnly(Host):
    """Shows only the data of a result, where it has data."""

    def show(self, answer: Answer) -> Shown:
        """Leave out the content beside data."""
        shown = super().show(answer)
        return shown if shown.data is None else shown._replace(text="", images=[])


class TextOnly(Host):
    """Shows only the text of a result."""

    mode = "legacy"

    def show(self, answer: Answer) -> Shown:
        """Leave out data and pictures."""
        return super().show(answer)._replace(data=None, images=[])


class NoPictures(Host):
    """Shows text and data, and drops pictures."""

    def show(self, answer: Answer) -> Shown:
        """Leave out the pictures."""
        return super().show(answer)._replace(images=[])


class WritesInSeries(Host):
    """Runs only calls of tools with `readOnlyHint` beside others."""

    mode = "legacy"

    def __init__(self, server: Served, driver: SlowDriver | None = None) -> None:
        super().__init__(server, driver)
        self._series = ThreadPoolExecutor(1)

    def send(self, name: str, arguments: dict[str, Any]) -> Future[Answer]:
        """Let a writing call wait until the one before is answered."""
        annotations = self.tool(name).annotations
        if annotations and annotations.read_only_hint:
            return super().send(name, arguments)
        return self._series.submit(lambda: self._server.call(name, **arguments))


class GivesUp(Host):
    """Gives up a call after sixty seconds, where a browser starts only once the call for it is answered."""

    knows_its_haste = True

    def show(self, answer: Answer) -> Shown:
        """Let the browser start once the call that starts it is answered."""
        if self._driver and answer.data.get("state") == "starting":
            self._driver.go()
        return super().show(answer)


class NoInstructions(Host):
    """Shows the tools, but not the server's instructions."""

    mode = "legacy"

    def read(self) -> str:
        """Leave out the instructions."""
        return super().read().partition("\n")[2]


class StrictSchemas(Host):
    """Refuses the whole list if one schema has a free object, or if one tool has no parameters."""

    options = ("--schemas", "plain")

    def listed(self) -> dict[str, Tool]:
        """Check the schemas as strict APIs do."""
        tools = super().listed()
        problems = [problem for name, tool in tools.items() for problem in free_parts(tool.input_schema, name)]
        assert not problems, problems
        return tools


class FortyTools(Host):
    """Gives its model the first forty tools of all servers, among which this one comes last."""

    mode = "legacy"

    def listed(self) -> dict[str, Tool]:
        """Cut the list."""
        return dict(list(super().listed().items())[: 40 - OTHERS])


class FixedList(Host):
    """Ignores `list_changed`, and refuses to call what it did not list at the beginning."""

    def tool(self, name: str) -> Tool:
        """Look into the first list alone."""
        return self._tools[name]


HOSTS: tuple[type[Host], ...] = (
    DataOnly,
    TextOnly,
    NoPictures,
    WritesInSeries,
    GivesUp,
    NoInstructions,
    StrictSchemas,
    FortyTools,
    FixedList,
)


def free_parts(schema: Schema, path: str) -> Iterator[str]:
    """Yield the parts of a schema that strict APIs refuse."""
    kind = schema.get("type")
    if "additionalProperties" in schema:
        yield f"{path}: additionalProperties"
    if kind == "object" and not schema.get("properties"):
        yield f"{path}: an object without properties"
    if kind == "array" and "items" not in schema:
        yield f"{path}: a list of anything"
    if not {"type", "anyOf"} & set(schema):
        yield f"{path}: no type"
    for name, one in _inner(schema).items():
        yield from free_parts(one, f"{path}.{name}")


def mismatches(value: Any, schema: Schema, path: str) -> Iterator[str]:
    """Yield the parts of an argument that its schema does not allow."""
    if "anyOf" in schema:
        if all(any(mismatches(value, one, path)) for one in schema["anyOf"]):
            yield f"{path}: {value!r}"
        return
    if not isinstance(value, _KINDS[schema["type"]]) or value not in schema.get("enum", [value]):
        yield f"{path}: {value!r}"
    elif isinstance(value, list):
        for item in value:
            yield from mismatches(item, schema["items"], f"{path}[]")
    elif isinstance(value, dict):
        properties = schema.get("properties", {})
        yield from (f"{path}.{name}: missing" for name in schema.get("required", ()) if name not in value)
        for name, one in value.items():
            if name in properties:
                yield from mismatches(one, properties[name], f"{path}.{name}")
            elif not schema.get("additionalProperties"):
                yield f"{path}.{name}: unknown"


def _inner(schema: Schema) -> dict[str, Schema]:
    choices = {f"choice {number}": one for number, one in enumerate(schema.get("anyOf", ()))}
    items = {"items": schema["items"]} if "items" in schema else {}
    return {**schema.get("properties", {}), **choices, **items}


def _texts(value: Any) -> Iterator[str]:
    """Yield the texts in a value; a number or a boolean stands beside its name."""
    if isinstance(value, dict):
        for name, one in value.items():
            yield from ([f"{name}: {one}"] if isinstance(one, int | float) else _texts(one))
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one)
    elif isinstance(value, str):
        yield value
