"""The network: rules for requests, HAR recording and replay, the log of requests."""

from __future__ import annotations

import json
import re
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import Field, model_validator

from orchestrator.actions.base import Action, Part
from orchestrator.actions.console import NEEDS_BIDI, LogQuery, catch_up_events, newest
from orchestrator.actions.tool_results import HarResult, NetworkLog, Routes
from orchestrator.automation.scene import Scene
from orchestrator.errors import InvalidArgument, Unsupported, brief
from orchestrator.models import url_globs
from orchestrator.models.paths import Overwrite, PathUse, ReadOrWritePath, ReadPath
from orchestrator.models.results import Outcome
from orchestrator.network import har
from orchestrator.network.journal import LARGEST, Journal
from orchestrator.network.rules import Rule
from orchestrator.settings import ToolSet
from orchestrator.webdriver.events.requests import STATUS

_MOST_RULES = 100
"""Rules per session."""
_ALTERNATIVES = 50
"""Globs that one glob with braces may expand to."""
_MOST_CHARACTERS = 200_000
"""Characters of all rules together: they stand in the record, which every call reads. Larger bodies are files."""
_LARGEST_FILE = 50_000_000
"""Bytes of a file that fulfils requests."""
_SHOWN = 200
"""Characters of a body that results show."""
_TAKES = {
    "block": {"method"},
    "fulfil": {"method", "status", "headers", "body", "path", "content_type"},
    "delay": {"method", "ms"},
    "clear": set[str](),
}
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_METHOD = re.compile(r"[A-Z]{1,32}")
_STATUS = range(200, 600)
_MOST_REPLAYS = 20
"""HAR files that a session may replay."""


class Route(Action[Routes]):
    """Block, fulfil (mock) or delay requests of all the session's pages with a matching URL, until cleared."""

    verb: ClassVar[str] = "route"
    title: ClassVar[str] = "Route requests"
    instead: ClassVar[str] = "An app's requests cannot be routed; get_console reads its log."
    part: ClassVar[Part] = "context"
    toolset: ClassVar[ToolSet] = "network"
    idempotent: ClassVar[bool] = True
    result: ClassVar[type[Outcome]] = Routes

    action: Literal["block", "fulfil", "delay", "clear"]
    url: str | None = Field(default=None, max_length=2000)
    method: str | None = None
    status: int | None = None
    headers: dict[str, str] | None = None
    body: str | None = None
    path: ReadPath | None = Field(default=None, description="Or a file.")
    content_type: str | None = None
    ms: int | None = Field(default=None, ge=1, le=600_000)

    @model_validator(mode="after")
    def _fits(self) -> Route:
        given = [name for name in type(self).model_fields if name not in {"action", "url"} and _is_given(self, name)]
        if superfluous := [name for name in given if name not in _TAKES[self.action]]:
            names = [type(self).model_fields[name].alias or name for name in superfluous]
            raise ValueError(f"{self.action} takes no {' and no '.join(names)}")
        if self.action != "clear" and not self.url:
            raise ValueError(f"{self.action} needs url")
        if self.action == "delay" and self.ms is None:
            raise ValueError("delay needs ms")
        if self.body is not None and self.path is not None:
            raise ValueError("give either body or path")
        if self.method is not None and not _METHOD.fullmatch(self.method.upper()):
            raise ValueError("method must be an HTTP method such as POST")
        if self.status is not None and self.status not in _STATUS:
            raise ValueError("status must be 200 to 599")
        if not all(_NAME.fullmatch(name) and value.isprintable() for name, value in (self.headers or {}).items()):
            raise ValueError("headers must be HTTP header names with one-line values")
        if self.content_type is not None and not self.content_type.isprintable():
            raise ValueError("contentType must be one line")
        if self.url and len([*islice(url_globs.alternatives(self.url), _ALTERNATIVES + 1)]) > _ALTERNATIVES:
            raise ValueError(f"url expands to more than {_ALTERNATIVES} globs")
        return self

    def perform(self, scene: Scene) -> Routes:
        """Write the rules to the record, the newest first, so that every process applies them."""
        scene.require_ability("network")
        scene.traffic.require_access()
        before = scene.record.routes
        if self.action == "clear":
            after = tuple(rule for rule in before if self.url is not None and rule["url"] != self.url)
        else:
            after = (self._rule().data(), *(rule for rule in before if not self._replaces(rule)))
        if len(after) > _MOST_RULES or len(json.dumps(after)) > _MOST_CHARACTERS:
            raise InvalidArgument(
                f"A session has at most {_MOST_RULES} rules with {_MOST_CHARACTERS:,} characters together.",
                hint="Clear some, or give large bodies as files, by path.",
            )
        scene.write(routes=after)
        scene.apply_routing()
        missing = self.action == "clear" and self.url and after == before
        warnings = [f"No rule has the url {self.url!r}."] if missing else []
        return Routes(routes=[_shown(rule) for rule in after], warnings=warnings)

    def _rule(self) -> Rule:
        given = {name: getattr(self, name) for name in type(self).model_fields if _is_given(self, name)}
        if self.path is not None:
            given["path"] = _readable(self.path)
        if self.method is not None:
            given["method"] = self.method.upper()
        return Rule.model_validate(given)

    def _replaces(self, rule: dict[str, Any]) -> bool:
        """True if it replaces this rule: same URL and method, and both or neither delay."""
        method = self.method.upper() if self.method else None
        same = (rule["url"], rule.get("method")) == (self.url, method)
        return same and (rule["action"] == "delay") == (self.action == "delay")


def _is_given(action: Route, name: str) -> bool:
    return getattr(action, name) is not None


def _shown(rule: dict[str, Any]) -> dict[str, Any]:
    """The rule with its body shortened, for results."""
    return rule | {"body": brief(rule["body"], _SHOWN)} if "body" in rule else rule


def _readable(given: str) -> Path:
    try:
        path = Path(given).expanduser().absolute()
        size = path.stat().st_size if path.is_file() else -1
        if 0 <= size <= _LARGEST_FILE:
            with path.open("rb"):
                return path
        problem = "is not a file" if size < 0 else f"has more than {_LARGEST_FILE // 1_000_000} MB"
    except (OSError, ValueError, RuntimeError):
        problem = "cannot be read"
    raise InvalidArgument(f"{given!r} {problem}.", hint="Give the path of a file on this machine.")


class Har(Action[HarResult]):
    """Record network traffic to a HAR file, or replay one: requests are answered from it."""

    verb: ClassVar[str] = "har"
    title: ClassVar[str] = "Record or replay a HAR"
    instead: ClassVar[str] = "The traffic of an app is not recorded; get_console reads its log."
    toolset: ClassVar[ToolSet] = "network"
    result: ClassVar[type[Outcome]] = HarResult

    action: Literal["start", "flush", "stop", "replay"]
    path: ReadOrWritePath | None = None
    overwrite: Overwrite = False
    not_found: Literal["continue", "abort"] = "continue"

    @model_validator(mode="after")
    def _fits(self) -> Har:
        if self.action == "replay" and self.path is None:
            raise ValueError("replay needs path")
        if self.action != "replay" and self.not_found != "continue":
            raise ValueError(f"{self.action} takes no notFound")
        if self.action == "replay" and self.overwrite:
            raise ValueError("replay writes nothing, so it takes no overwrite")
        return self

    def path_use(self) -> PathUse:
        """A replay reads the file, anything else writes it."""
        return PathUse.READ if self.action == "replay" else PathUse.WRITE

    def perform(self, scene: Scene) -> HarResult:
        """Keep paths in the session's record and recorded traffic in a journal below the setting `home`."""
        scene.require_ability("network")
        scene.traffic.require_access()
        handlers = {"start": self._start, "flush": self._flush, "stop": self._stop, "replay": self._replay}
        result = handlers[self.action](scene)
        record = scene.record
        return result.model_copy(
            update={"recording": bool(record.har), "replays": [str(replay["path"]) for replay in record.replays]}
        )

    def _start(self, scene: Scene) -> HarResult:
        record, home = scene.record, scene.settings.home
        if record.har:
            raise InvalidArgument(f"Already recording to {record.har}.", hint="Call har with flush or stop.")
        path = har.next_free_path(record, home) if self.path is None else har.resolve_target(self.path)
        Journal.for_session(record, home).create()
        scene.write(har=str(path))
        scene.apply_routing()
        return HarResult(path=str(path))

    def _flush(self, scene: Scene) -> HarResult:
        record, home = scene.record, scene.settings.home
        if not record.har:
            raise InvalidArgument("Nothing is being recorded.", hint="Call har with start, or start with option har.")
        path = Path(record.har) if self.path is None else har.resolve_target(self.path)
        more, journal = scene.traffic.drain(), Journal.for_session(record, home)
        pages, entries = har.write(path, record, journal, more)
        full = [f"The recording is full ({LARGEST // 1_000_000} MB): later requests are missing."]
        return HarResult(path=str(path), pages=pages, entries=entries, warnings=full if journal.full else [])

    def _stop(self, scene: Scene) -> HarResult:
        record = scene.record
        if not (record.har or record.replays):
            raise InvalidArgument("Nothing is being recorded or replayed.", hint="Call har with start or replay.")
        result = self._flush(scene) if record.har else HarResult()
        scene.write(har="", replays=())
        scene.apply_routing()
        Journal.for_session(record, scene.settings.home).remove()
        return result

    def _replay(self, scene: Scene) -> HarResult:
        path = str(har.resolve_source(self.path or ""))
        others = [replay for replay in scene.record.replays if replay["path"] != path]
        if len(others) >= _MOST_REPLAYS:
            raise InvalidArgument(f"{_MOST_REPLAYS} HAR files are being replayed.", hint="Call har with stop.")
        scene.write(replays=({"path": path, "notFound": self.not_found}, *others))
        scene.apply_routing()
        return HarResult(path=path)


class GetNetwork(LogQuery, Action[NetworkLog]):
    """List the pages' network requests and their responses or failures."""

    verb: ClassVar[str] = "get_network"
    title: ClassVar[str] = "Read network"
    toolset: ClassVar[ToolSet] = "network"
    long_result: ClassVar[bool] = True
    instead: ClassVar[str] = "An app's requests are at most in its own log: see get_console."
    reads: ClassVar[bool] = True
    result: ClassVar[type[Outcome]] = NetworkLog

    url: str | None = None
    status: str | None = Field(
        default=None, coerce_numbers_to_str=True, pattern=STATUS, description="404, 4xx, >=400, failed, pending."
    )

    def perform(self, scene: Scene) -> NetworkLog:
        """Return the requests collected from network events."""
        scene.require_ability("requests")
        if scene.bidi is None:
            raise Unsupported(f"{scene.record.id!r} reports no requests: it has no WebDriver BiDi.", hint=NEEDS_BIDI)
        warnings = [*catch_up_events(scene), *scene.subscriptions.request_topic.gaps_after(self.since)]
        entries, until, dropped = scene.subscriptions.requests.find(self.since, self.url, self.status, clear=self.clear)
        shown, more = newest(entries, self.limit, scene)
        return NetworkLog(
            entries=shown, total=len(entries), dropped=dropped or None, until=until, warnings=warnings, next=more
        )


ACTIONS: list[type[Action[Any]]] = [Route, Har, GetNetwork]
