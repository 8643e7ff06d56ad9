"""The pages of the documentation that are made of declarations: tools, errors, settings, and what tests prove.

`make docs` writes them; a test fails when one is stale.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import types
from collections.abc import Callable, Iterable
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

import orchestrator
from orchestrator.abilities import ABILITIES, TITLES
from orchestrator.actions.base import Action
from orchestrator.actions.results import Outcome
from orchestrator.arguments import names_of
from orchestrator.errors import OrchestratorError
from orchestrator.mcp_server.tools import TOOLS, Tool
from orchestrator.presets import DEVICES, LANDSCAPE
from orchestrator.provider import Provider, SessionOptions
from orchestrator.registry import Providers
from orchestrator.settings import _NOT_FROM_WORKING_FOLDER, PREFIX, Settings
from tests import behaviours
from tests.behaviours import MADE, table
from tests.result_meanings import RESULTS

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"

_ABOUT_TOOLS = """\
Every tool that an MCP client sees. Those marked as an action are also steps of `execute_sequence` and
`execute_parallel`. Parameters are camelCase; snake_case is taken, too, and so are numbers and booleans sent as
strings. An unknown parameter is refused, with the valid names.
"""
_ABOUT_RESULTS = """\
Fields without anything to say are left out. An error has `error` instead: see [errors](errors.md).
"""
_ABOUT_PROVIDERS = """\
Where sessions can come from: `provider` of `start_session`. Its `options` are checked before anything is started; an
unknown one is refused, and the error lists those that there are. What a remote end takes beyond them goes into
`capabilities`, which win. `orchestrator providers` prints the same, with those of other packages that are installed.
[Clouds](clouds.md) says more of the clouds. These options are of every provider:
"""
_ABOUT_ERRORS = """\
A failure is a result of the tool with `isError: true`. Its text is `code: what happened. What to do next.` and lines
with further facts; its data is `error` with `code`, `message`, `hint`, `retryable`, `sessionId` where there is one,
and the facts. Codes never change. Retryable means: the same call can succeed later, unchanged.
"""
_ABOUT_CODES = """\
The message of `no_session` and `session_not_found` begins with `No session: ` and lists the open ids. A message never
repeats what was typed into a password field.
"""
_ABOUT_SETTINGS = """\
An option of `orchestrator serve` wins over an environment variable, this over `orchestrator.toml` in the working
folder, this over `orchestrator.toml` in `home`, and this over the default. Durations are seconds, or text such as
`500ms`, `30s`, `15m`, `2h`. An unknown `ORCHESTRATOR_` variable is warned of, an unknown option or key is an error.
"""

_TABLE_BEGINS = "<!-- Made by `make docs` of orchestrator/abilities.py. -->"
_DEVICES_BEGIN = "<!-- Made by `make docs` of orchestrator/presets.py. -->"
_TABLE_ENDS = "<!-- The end of it. -->"

MEANINGS = {
    "expect.url": "A glob such as `**/cart*`.",
    "args": "Switches of the browser, such as `--lang=de`.",
    "prefix": "Only sessions whose ids begin with it.",
    "target": "A selector: what to drop it on; or give `x` and `y`.",
    "actions": "The steps, in order: `action` is the name of a tool, the rest its parameters; its own action is `do`.",
    "app": "The app as the remote end finds it, such as a URL; passed on unread.",
    "appActivity": "Android: which of its activities.",
    "appPackage": "Android: an app that is installed.",
    "autoAcceptAlerts": "iOS: accept what the system asks.",
    "autoGrantPermissions": "Android: grant what the app asks for.",
    "automationName": "XCUITest or UiAutomator2 unless given.",
    "bundleId": "iOS: an app that is installed.",
    "debuggerAddress": "Where a running Chrome listens, as host:port, for `mode: attached`.",
    "deviceName": "Such as `iPhone 15`; it names a kind of device.",
    "fullReset": "Remove the app before and after.",
    "newCommandTimeout": "Seconds without a command after which Appium ends it; from `idle_timeout` unless given.",
    "noReset": "Keep the app's data.",
    "platformVersion": "Such as 17.5.",
    "udid": "Which device: no two sessions can have the same one.",
    "expect.not": "It must not hold.",
    "expect.attribute": "An attribute that must be there, or have this value.",
    "level": "Messages of this level and of graver ones.",
    "since": "Only what came or changed later: `until` of an earlier answer, or seconds since 1970.",
    "clear": "Forget all of it afterwards.",
    "get_console.limit": "The newest ones are shown.",
    "get_network.limit": "The newest ones are shown.",
    "accept": "true: OK. false: Cancel.",
    "action": "What to do.",
    "navigationUrl": "Open this URL first.",
    "observe": "How much to report of what it changed; `change` also waits until the page has settled.",
    "verbose": "Report each step, too.",
    "navigate.url": "An absolute URL.",
    "tabs.url": "What a new tab opens.",
    "cookies.name": "`get` answers with all unless it is given.",
    "expect.text": "Its text, exact but for white space.",
    "wait_for.text": "Contained in the page, or in the element.",
    "state": "`visible` unless given.",
    "pixels": "Most of a screen unless given.",
    "scroll.selector": "Alone: what comes into view. With `direction`: what is scrolled inside.",
    "take_screenshot.path": "Where to save it.",
    "take_screenshot.selector": "Only this element.",
    "press_keys.selector": "What has the focus first.",
    "switch_frame.selector": "The frame; the top of the page unless given.",
    "seconds": "How long it stays in the background.",
    "percent": "How far, of the length of the screen or element.",
    "context": "Its name or how this begins; they are listed unless it is given.",
    "idleMs": "Unused for at least so many milliseconds.",
    "viewport": "The page area in CSS pixels: 1280 by 720 unless given.",
    "headless": "Without a window; a setting (`true`) unless given.",
    "start_app_session.platform": "`iOS` or `Android`, in any case.",
    "tap_element.count": "2 is a double tap.",
    "scale": "Such as 2 or 0.5.",
    "browser": "Which browser.",
    "browserVersion": "Such as 156; any unless given.",
    "customId": "A name of your own for the app, where the cloud takes one.",
    "button": "The mouse button.",
    "checked": "Whether it is checked.",
    "containsText": "Part of its text.",
    "compare_sessions.sessionIds": "Two or more; the first is what the others are compared with.",
    "cookies.value": "Any text without semicolons and line breaks.",
    "count": "How many elements the selector finds.",
    "colorScheme": "The colours that pages are asked for (`prefers-color-scheme`).",
    "device": "What pages take the browser for: [devices](devices.md).",
    "dialogs": "Alerts, confirms and prompts: [policies](policies.md).",
    "permissions": "Place, camera, microphone, clipboard and the like.",
    "notifications": "The permission to show them.",
    "filePickers": "Windows in which people choose files.",
    "downloads": "Files that a page has the browser save.",
    "newTabs": "Tabs that a page opens.",
    "geolocation": "Where pages are told that they are, in degrees; `accuracy` in metres. `{}`: as it is.",
    "timezone": "Such as Europe/Berlin.",
    "locale": "Such as de-DE.",
    "offline": "Let no request leave the browser.",
    "direction": "Where to.",
    "route.url": "A glob such as `**/api/*`; `clear` ends all rules unless it is given.",
    "route.status": "Of the answer; 200 unless given.",
    "get_network.url": "A part of the address, or a glob with `*`.",
    "save_storage_state.path": "Where to save it; below `home` unless given.",
    "route.body": "What is answered; nothing unless given.",
    "route.contentType": "Of the body; guessed from the file's name, or from how the body begins, unless given.",
    "route.headers": "Of the answer.",
    "route.method": "Only requests of this method, such as `POST`.",
    "route.ms": "How long requests wait.",
    "domain": "The page's own unless given.",
    "enabled": "Whether it is enabled.",
    "execute_parallel.sequences": "For each session, or each group of sessions, its steps.",
    "format": "The form of the result.",
    "fullPage": "The whole page, not only what is seen of it.",
    "har.action": "`flush` writes what there is so far; `stop` ends replays, too.",
    "har.notFound": "What becomes of requests that the file has no answer to.",
    "har.path": "The HAR file; one below `home` unless given. `replay` needs it.",
    "height": "In CSS pixels.",
    "history": "Instead of `url`.",
    "drag_and_drop.x": "Where to drop it: CSS pixels from the left of the viewport.",
    "drag_and_drop.y": "The same from its top.",
    "httpOnly": "Scripts of the page cannot read it.",
    "keys": "Keys joined by `+` are held together; a space separates what is pressed one after the other.",
    "limit": "At most so many.",
    "modifiers": "Keys held down meanwhile.",
    "of": "What of them is compared.",
    "offset": "Leave out so many.",
    "path": "Where on the site it counts; everywhere unless given.",
    "upload_app.path": "The file on this machine: an .apk, .aab, .ipa or .zip, as the cloud takes it.",
    "profile": "The name of the profile, for `mode: persistent`.",
    "provider": "Which cloud.",
    "paths": "Files on this machine, sent along to a remote end far away.",
    "promptText": "What to write into a prompt.",
    "reason": "Why, for people who look at the dashboard.",
    "status": "What the session came to, for a cloud's dashboard; it stays unmarked unless given.",
    "options": "What is rare, and the provider's own: `orchestrator providers` lists them.",
    "remoteSessionId": "Its id there, as New Session answered it.",
    "remoteUrl": "Its WebDriver endpoint, such as `http://127.0.0.1:4444`; `user:password@` in it stays secret.",
    "roles": "Only elements of these roles.",
    "scope": "What is visible now, or the whole page.",
    "sameSite": "Whether other sites' pages send it.",
    "script": "A function body.",
    "run_script.script": "Statements, with `return` and `await` at the top: see [scripts](scripts.md).",
    "secure": "Only over https.",
    "selector": "Which element: see [selectors](concepts.md#selector).",
    "set_current_session.sessionId": "Which one.",
    "start_session.headless": "Without a window; a setting (`true`) unless given. Clouds are not told.",
    "stabilityMs": "How long nothing may change.",
    "stabilityTimeoutMs": "How long that is waited for; past it the result says `stable: false`, which is no error.",
    "source": "What to drag: see [selectors](concepts.md#selector).",
    "take_screenshot.format": "That of the image and of the file.",
    "tap_element.x": "Instead of `selector`: CSS pixels from the left of the viewport.",
    "tap_element.y": "The same from its top.",
    "title": "The whole title, or a glob.",
    "value": "The value of the field.",
    "set_value.value": "What it shall hold, such as a text, `true` or a date: see [field](concepts.md#field).",
    "values": "All that shall be chosen, by value, label or index from 0; `[]` clears a list of several.",
    "visible": "Whether it is visible.",
    "waitUntil": "How far the page must have loaded.",
    "width": "In CSS pixels.",
}
"""What its name and type already tell a model, and the reader of a table wants to read all the same."""


def pages() -> dict[str, str]:
    """The generated pages by file name."""
    made: dict[str, Callable[[], str]] = {
        "actions.md": actions,
        "behaviours.md": behaviours.page,
        "errors.md": errors,
        "providers.md": providers,
        "settings.md": settings,
        "support.md": support,
        "devices.md": devices,
    }
    return {name: text() for name, text in made.items()}


# Tools


def actions() -> str:
    """Every tool with its parameters and its result."""
    index = table(("tool", "what it does"), ((f"[`{tool.name}`](#{tool.name})", told(tool)) for tool in TOOLS.values()))
    common = table(("field", "type", "meaning"), (result_row("", Outcome, name) for name in names_of(Outcome)))
    return "\n".join(
        [
            "# Tools\n",
            MADE,
            _ABOUT_TOOLS,
            index,
            "\n## What every result can say\n",
            _ABOUT_RESULTS,
            common,
            *(section(tool) for tool in TOOLS.values()),
            "",
        ]
    )


def told(tool: Tool) -> str:
    """A tool's description."""
    return tool.listed.description or ""


def section(tool: Tool) -> str:
    """One tool."""
    declared = tool.declared
    rows = [parameter_row(tool, name) for name in tool.listed.input_schema["properties"]]
    parameters = table(("parameter", "type", "default", "meaning"), rows) if rows else "It takes no parameters."
    kind = f"Action on: {', '.join(sorted(declared.types))}. " if issubclass(declared, Action) else ""
    return f"\n## {tool.name}\n\n{told(tool)}\n\n{kind}{hints(tool)}\n\n{parameters}\n\n{answer(tool)}"


def hints(tool: Tool) -> str:
    """The annotations, in words."""
    told = tool.listed.annotations
    assert told is not None
    words = {
        "reads only": told.read_only_hint,
        "can destroy something": told.destructive_hint,
        "may be repeated": told.idempotent_hint,
        "reaches beyond this machine": told.open_world_hint,
    }
    yes = [word for word, holds in words.items() if holds]
    return f"Annotations: {', '.join(yes)}." if yes else "Annotations: none holds."


def parameter_row(tool: Tool, name: str) -> tuple[str, str, str, str]:
    """One parameter."""
    schema = tool.listed.input_schema
    told = schema["properties"][name]
    needed = name in schema.get("required", ())
    default = "required" if needed else f"`{shown(told['default'])}`" if "default" in told else ""
    return f"`{name}`", type_of_schema(told), default, meaning(tool, name)


def meaning(tool: Tool, name: str) -> str:
    """What a parameter is for: the model's words, else those of this module."""
    given = tool.listed.input_schema["properties"][name].get("description")
    return str(given or MEANINGS.get(f"{tool.name}.{name}") or MEANINGS.get(name) or "")


def shown(value: Any) -> str:
    """A default as a caller would write it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def type_of_schema(schema: dict[str, Any]) -> str:
    """A JSON schema in words."""
    if "enum" in schema:
        return ", ".join(f"`{one}`" for one in schema["enum"])
    if "anyOf" in schema:
        return "any"
    if schema.get("type") == "array":
        inner = schema["items"]
        return "list of objects" if "properties" in inner else f"list of {type_of_schema(inner)}"
    if schema.get("type") == "object" and "properties" in schema:
        return "{" + ", ".join(f"`{name}`" for name in schema["properties"]) + "}"
    return str(schema.get("type", "any"))


def answer(tool: Tool) -> str:
    """What a tool answers."""
    result = tool.declared.result
    doc = (inspect.getdoc(result) or "").split("\n\n")[0]
    if not tool.declared.structured:
        return f"Answers with an image and text, without data: {doc[0].lower()}{doc[1:]}"
    rows = (result_row(tool.name, result, name) for name in own_fields(tool))
    return f"Answers: {doc}\n\n" + table(("field", "type", "meaning"), rows)


def own_fields(tool: Tool) -> list[str]:
    """The fields of a tool's result that not every result has."""
    result = tool.declared.result
    return [name for name in names_of(result) if name not in names_of(Outcome) and not hidden(result, name)]


def result_row(tool: str, model: type[BaseModel], name: str) -> tuple[str, str, str]:
    """One field of a result."""
    return f"`{name}`", type_of(field_of(model, name).annotation), result_meaning(tool, model, name)


def result_meaning(tool: str, model: type[BaseModel], name: str) -> str:
    """What a field tells: the model's words, else those of `tests.result_meanings`."""
    given = field_of(model, name).description
    return given or RESULTS.get(f"{tool}.{name}") or RESULTS.get(name) or ""


def hidden(model: type[BaseModel], name: str) -> bool:
    """Whether a field stays on our side."""
    return bool(field_of(model, name).exclude)


def field_of(model: type[BaseModel], name: str) -> FieldInfo:
    """A field by the name that it has on the wire."""
    return next(found for own, found in model.model_fields.items() if (found.alias or own) == name)


def type_of(annotation: Any) -> str:
    """A Python annotation in words."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return type_of(inner[0])
    if origin in (Union, types.UnionType):
        return " or ".join(type_of(one) for one in inner if one is not types.NoneType)
    if origin is Literal:
        return ", ".join(f"`{one}`" for one in inner)
    if origin in (list, tuple):
        return f"list of {type_of(inner[0])}"
    if origin is dict:
        return "object"
    return name_of(annotation)


def name_of(annotation: Any) -> str:
    """A single type in words."""
    if annotation is Any:
        return "any"
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return ", ".join(f"`{one.value}`" for one in annotation)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return "{" + ", ".join(f"`{name}`" for name in names_of(annotation)) + "}"
    names = {str: "string", int: "integer", float: "number", bool: "boolean", dict: "object", Path: "path"}
    return names.get(annotation, str(annotation))


# Providers


def providers() -> str:
    """Every provider that is brought along, with its options."""
    known = Providers()
    ours = [one.name for one in known.known() if one.distribution == "webdriver-orchestrator"]
    every = table(
        ("option", "type", "meaning"), (option_row(SessionOptions, name) for name in SessionOptions.model_fields)
    )
    return "\n".join(
        ["# Providers\n", MADE, _ABOUT_PROVIDERS, every, *(provider_section(known[name]) for name in ours), ""]
    )


def provider_section(provider: Provider) -> str:
    """One provider."""
    own = [name for name in provider.Options.model_fields if name not in SessionOptions.model_fields]
    rows = [option_row(provider.Options, name) for name in own]
    options = table(("option", "type", "meaning"), rows) if rows else "It has no options of its own."
    browsers = f" Browsers: {', '.join(sorted(provider.browsers))}." if provider.browsers else ""
    told = f"{summary(type(provider))} Platforms: {', '.join(sorted(provider.types))}.{browsers}"
    return f"\n## {provider.name}\n\n{told}\n\n{options}"


def option_row(model: type[BaseModel], name: str) -> tuple[str, str, str]:
    """One option."""
    field = model.model_fields[name]
    return f"`{field.alias or name}`", type_of(field.annotation), field.description or ""


# Errors


def _retryable(said: set[bool]) -> str:
    if len(said) == 1:
        return "yes" if said.pop() else "no"
    return "as the error says"


def errors() -> str:
    """Every code."""
    rows = [
        (
            f"`{code}`",
            " ".join(summary(one) for one in classes),
            _retryable({one.retryable for one in classes}),
            names(classes),
        )
        for code, classes in sorted(codes().items())
    ]
    return "\n".join(
        [
            "# Errors\n",
            MADE,
            _ABOUT_ERRORS,
            _ABOUT_CODES,
            table(("code", "when", "retryable", "class"), rows),
            "",
        ]
    )


def error_classes() -> list[type[OrchestratorError]]:
    """The base, then everything below it."""
    for module in pkgutil.walk_packages(orchestrator.__path__, "orchestrator."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    found = [OrchestratorError]
    for one in found:
        found += [below for below in one.__subclasses__() if below.__module__.startswith("orchestrator")]
    return found


def codes() -> dict[str, list[type[OrchestratorError]]]:
    """The classes of each code; the base has that of its most general descendant."""
    found: dict[str, list[type[OrchestratorError]]] = {}
    for one in error_classes()[1:]:
        found.setdefault(one.code, []).append(one)
    return found


def summary(declared: type) -> str:
    """The first paragraph of a docstring."""
    return " ".join((inspect.getdoc(declared) or "").split("\n\n")[0].split())


def names(classes: Iterable[type]) -> str:
    """Where Python finds them."""
    return ", ".join(f"`{one.__module__}.{one.__name__}`" for one in classes)


# Settings


def settings() -> str:
    """Every setting."""
    rows = [
        (
            f"`{name}`",
            f"`--{name.replace('_', '-')}`" + (f", `--no-{name.replace('_', '-')}`" if one.annotation is bool else ""),
            f"`{PREFIX}{name.upper()}`",
            default_of(name, one),
            one.description or "",
        )
        for name, one in Settings.model_fields.items()
    ]
    barred = ", ".join(f"`{name}`" for name in sorted(_NOT_FROM_WORKING_FOLDER))
    return "\n".join(
        [
            "# Settings\n",
            MADE,
            _ABOUT_SETTINGS,
            f"A cloned repository must not choose what runs: {barred} are not taken from the working folder's file.\n",
            table(("setting", "option", "variable", "default", "meaning"), rows),
            "",
        ]
    )


def default_of(name: str, one: FieldInfo) -> str:
    """A default in words."""
    worded = {"home": "the platform's data folder", "namespace": "from the project folder"}
    if name in worded:
        return worded[name]
    if one.default is None or one.default is PydanticUndefined:
        return "found" if one.annotation == Path | None else "none"
    return f"`{shown(one.default)}`"


# Support


def support() -> str:
    """The page as it is, with the table of what browsers cannot do between its two marks."""
    before, _, rest = (DOCS / "support.md").read_text("utf-8").partition(_TABLE_BEGINS)
    after = rest.partition(_TABLE_ENDS)[2]
    return f"{before}{_TABLE_BEGINS}\n\n{abilities()}\n\n{_TABLE_ENDS}{after}"


def devices() -> str:
    """The page as it is, with the table of presets between its two marks."""
    before, _, rest = (DOCS / "devices.md").read_text("utf-8").partition(_DEVICES_BEGIN)
    after = rest.partition(_TABLE_ENDS)[2]
    rows = (
        (one.name, f"{one.width} x {one.height}", f"{one.scale:g}", one.system, "touch" if one.touch else "mouse")
        for one in DEVICES.values()
        if not one.name.endswith(LANDSCAPE)
    )
    shown = table(("device", "page area", "scale", "system", "input"), rows).strip()
    return f"{before}{_DEVICES_BEGIN}\n\n{shown}\n\n{_TABLE_ENDS}{after}"


def abilities() -> str:
    """What each browser cannot do, and why."""
    rows = (
        (one.asked, *(f"no: {one.lacking[name]}" if name in one.lacking else "yes" for name in TITLES))
        for one in ABILITIES.values()
    )
    return table(("asked for by", *TITLES.values()), rows).strip()


if __name__ == "__main__":
    for page, content in pages().items():
        (DOCS / page).write_text(content, "utf-8")
