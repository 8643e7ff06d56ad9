"""Rules for the requests of a session's pages."""

from __future__ import annotations

import json
import re
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import Field, model_validator

from orchestrator.actions.base import Action, Part
from orchestrator.actions.network_results import Routes
from orchestrator.actions.results import Outcome
from orchestrator.actions.scene import Scene
from orchestrator.errors import InvalidArgument, brief
from orchestrator.network import globs
from orchestrator.network.rules import Rule

_MOST = 100
"""Rules that a session may have."""
_ALTERNATIVES = 50
"""Globs that one with braces may stand for."""
_LARGEST = 200_000
"""Characters of all of them, in the record that every call reads; larger bodies are files."""
_LARGEST_FILE = 50_000_000
"""Bytes."""
_SHOWN = 200
"""Characters of a body."""
_TAKES = {
    "block": {"method"},
    "fulfil": {"method", "status", "headers", "body", "path", "content_type"},
    "delay": {"method", "ms"},
    "clear": set[str](),
}
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_METHOD = re.compile(r"[A-Z]{1,32}")
_STATUS = range(200, 600)


class Route(Action[Routes]):
    """Block, fulfil (mock) or delay requests of all the session's pages whose URL matches, until cleared."""

    verb: ClassVar[str] = "route"
    title: ClassVar[str] = "Route requests"
    instead: ClassVar[str] = "The requests of an app stay as they are; get_console reads its log."
    part: ClassVar[Part] = "context"
    idempotent: ClassVar[bool] = True
    result: ClassVar[type[Outcome]] = Routes

    action: Literal["block", "fulfil", "delay", "clear"]
    url: str | None = Field(default=None, max_length=2000)
    method: str | None = None
    status: int | None = None
    headers: dict[str, str] | None = None
    body: str | None = None
    path: str | None = Field(default=None, description="Or a file.")
    content_type: str | None = None
    ms: int | None = Field(default=None, ge=1, le=600_000)

    @model_validator(mode="after")
    def _fits(self) -> Route:
        given = [name for name in type(self).model_fields if name not in {"action", "url"} and _said(self, name)]
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
            raise ValueError("method must be one of HTTP, such as POST")
        if self.status is not None and self.status not in _STATUS:
            raise ValueError("status must be 200 to 599")
        if not all(_NAME.fullmatch(name) and value.isprintable() for name, value in (self.headers or {}).items()):
            raise ValueError("headers must be names of HTTP with values of one line")
        if self.content_type is not None and not self.content_type.isprintable():
            raise ValueError("contentType must be one line")
        if self.url and len([*islice(globs.alternatives(self.url), _ALTERNATIVES + 1)]) > _ALTERNATIVES:
            raise ValueError(f"url stands for more than {_ALTERNATIVES} globs")
        return self

    def perform(self, scene: Scene) -> Routes:
        """It stands in the record, so that every process keeps to it; the rule that was added last comes first."""
        scene.need("network")
        scene.traffic.need()
        before = scene.record.routes
        if self.action == "clear":
            after = tuple(one for one in before if self.url is not None and one["url"] != self.url)
        else:
            after = (self._rule().data(), *(one for one in before if not self._replaces(one)))
        if len(after) > _MOST or len(json.dumps(after)) > _LARGEST:
            raise InvalidArgument(
                f"The rules of a session are at most {_MOST}, and {_LARGEST:,} characters.",
                hint="Clear some, or give large bodies as files, by path.",
            )
        scene.write(routes=after)
        scene.follow()
        known = {"clear": [f"No rule has the url {self.url!r}."]} if self.url and after == before else {}
        return Routes(routes=[_shown(one) for one in after], warnings=known.get(self.action, []))

    def _rule(self) -> Rule:
        given = {name: getattr(self, name) for name in type(self).model_fields if _said(self, name)}
        if self.path is not None:
            given["path"] = _readable(self.path)
        if self.method is not None:
            given["method"] = self.method.upper()
        return Rule.model_validate(given)

    def _replaces(self, rule: dict[str, Any]) -> bool:
        """Whether it is said anew of what a rule was about."""
        method = self.method.upper() if self.method else None
        same = (rule["url"], rule.get("method")) == (self.url, method)
        return same and (rule["action"] == "delay") == (self.action == "delay")


def _said(action: Route, name: str) -> bool:
    return getattr(action, name) is not None


def _shown(rule: dict[str, Any]) -> dict[str, Any]:
    """A rule as results show it."""
    return rule | {"body": brief(rule["body"], _SHOWN)} if "body" in rule else rule


def _readable(given: str) -> Path:
    try:
        path = Path(given).expanduser().absolute()
        size = path.stat().st_size if path.is_file() else -1
        if 0 <= size <= _LARGEST_FILE:
            with path.open("rb"):
                return path
        wrong = "is no file" if size < 0 else f"has more than {_LARGEST_FILE // 1_000_000} MB"
    except (OSError, ValueError, RuntimeError):
        wrong = "cannot be read"
    raise InvalidArgument(f"{given!r} {wrong}.", hint="Give the path of a file on this machine.")


ACTIONS: list[type[Action[Any]]] = [Route]
