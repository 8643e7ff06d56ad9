"""Masks secrets in what one session shows: the operator's, and those typed into its pages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from orchestrator.errors import OrchestratorError, ScriptThrew, SessionLost
from orchestrator.models.session import TypedSecret
from orchestrator.system.redaction.typed_secrets import MOST, TypedSecrets, digest_secret
from orchestrator.system.secrets import Redactor

_QUOTED = re.compile(
    r'"(?:[^"\\\n]|\\.)*(?:"|$)'
    r"|(?<!\w)'(?:[^'\\\n]|\\.|'(?=\w))*(?:'|$)"
    r"|^(?:\d+\. |Event: |Warning: )?\s*(?:- )?text: .*$"
    r"|(?:^|(?<=>> ))(?:text|label|placeholder|alt|title)=.*?(?= >> |$)"
    r"|\w://\S+",
    re.MULTILINE,
)
"""The words of a page within a line of ours: in quotation marks, a line of text, a selector's text, a URL."""

_OURS = frozenset({
    "action", "app", "apps", "code", "color_scheme", "context", "contexts", "device", "dialogs", "downloads",
    "file_pickers", "http_version", "id", "kind", "level", "locale", "media_type", "method", "mime", "mime_type",
    "new_tabs", "notifications", "open", "origins", "pageref", "path", "permissions", "ref", "replays", "role",
    "same_site", "session", "session_id", "session_type", "source", "started_date_time", "state", "states",
    "status", "tab", "timezone", "type", "unit",
})  # fmt: skip
"""Fields that hold this program's words, ids, roles or places."""
_LINES = frozenset({
    "appeared", "candidates", "changed", "css_selector", "disappeared", "error", "events", "field", "frame", "hint",
    "message", "missing", "next", "outline", "reason", "selector", "unstable_reason", "warnings",
})  # fmt: skip
"""Fields of lines in which a page's words are quoted."""
_VALUES = frozenset({"value", "console"})
"""Fields whose values a page made, names and all."""
_BODIES = frozenset({"url", "redirect", "redirect_url", "query_string", "post_data", "content", "body"})
"""Fields of addresses and bodies, in which short numbers are masked, too."""
_FORMAT = frozenset({"mimeType", "encoding", "comment"})
"""Fields of a body in HAR that say what it is."""
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


class SessionRedactor:
    """Masks the operator's secrets everywhere, and typed ones where a page may have written them, as whole words.

    It keeps no typed secret, only digests, which `learn` takes from the session's record: any process that drives the
    session masks the same.
    """

    def __init__(self, operators: Redactor, home: Path, typed: tuple[TypedSecret, ...] = ()) -> None:
        self._operators = operators
        self._home = home
        self._learned: tuple[TypedSecret, ...] = ()
        self._typed: TypedSecrets | None = None
        self.learn(typed)

    def learn(self, typed: tuple[TypedSecret, ...]) -> None:
        """Mask from now on what the record says was typed."""
        if typed != self._learned:
            self._typed, self._learned = TypedSecrets(typed, self._home), typed

    def add(self, secret: str) -> tuple[TypedSecret, ...] | None:
        """Mask a typed value from now on; returns what the record has to keep then, None if it has it already."""
        one = digest_secret(secret, self._home)
        if one is None or one in self._learned:
            return None
        self.learn((*self._learned, one)[-MOST:])
        return self._learned

    def add_operators(self, secret: str) -> None:
        """Mask from now on, in all that this process puts out, a secret that whoever runs it keeps."""
        self._operators.add(secret)

    @property
    def longest(self) -> int:
        """Characters of the longest secret: so much of the end of a cut text may be the half of one."""
        operators = self._operators.longest if self._operators.spelled else 0
        return max(operators, self._typed.longest if self._typed else 0)

    def text(self, text: str, *, pins: bool = False) -> str:
        """Mask secrets in a text of a page; short numbers only in URLs, or everywhere with `pins`."""
        return self._mask_typed(self._mask_operators(text), pins=pins)

    def beginning(self, text: str, length: int) -> str:
        """Return the first characters of a text, masked, without an end that may be the half of a secret."""
        if len(text) <= length:
            return self.text(text)
        longest = max(self.longest, 1)
        masked = self.text(text[: length + longest - 1])
        return masked[: min(length, len(masked) - longest + 1)]

    def line(self, line: str) -> str:
        """Mask secrets in a line of ours: typed ones only in what it quotes of a page."""
        line = self._mask_operators(line)
        return _QUOTED.sub(lambda quote: self._mask_typed(quote[0]), line) if self._typed else line

    def data(self, value: Any, *, pins: bool = False) -> Any:
        """Mask secrets in a JSON value that a page made, names and all."""
        if isinstance(value, str):
            return self.text(value, pins=pins)
        if isinstance(value, dict):
            return {self.data(name): self.data(item, pins=pins) for name, item in value.items()}
        return [self.data(item, pins=pins) for item in value] if isinstance(value, list | tuple) else value

    def fields(self, value: Any) -> Any:
        """Mask secrets in a result or in data of ours, field by field, as each field's name says who wrote it."""
        return self._field("", value) if self._typed or self._operators.spelled else value

    def error(self, error: OrchestratorError) -> None:
        """Mask secrets in an error; a page may have written what its script threw, or what a remote end says."""
        said, colon, cause = error.message.partition(": ")
        if isinstance(error, ScriptThrew) and error.thrown:
            said, colon, cause = error.message.partition(error.thrown)
            error.thrown = colon = self.text(error.thrown)
        elif isinstance(error.details.get("error"), str):
            cause = self.text(cause)
        error.message = self.line(said) + colon + self.line(cause)
        error.hint = self.line(error.hint)
        error.details = self.fields(error.details)
        error.url = self.fields({"url": error.url})["url"]
        if isinstance(error, SessionLost):
            error.reason = self.line(error.reason)
        error.args = (error.message, *error.args[1:])

    def _mask_operators(self, text: str) -> str:
        return self._operators.text(text) if self._operators.spelled else text

    def _mask_typed(self, text: str, *, pins: bool = False) -> str:
        return self._typed.mask(text, pins=pins) if self._typed else text

    def _field(self, name: str, value: Any) -> Any:
        name = _HUMP.sub("_", name).lower()
        if name in _OURS:
            return self._mask_operators(value) if isinstance(value, str) else value
        if name in _VALUES:
            return self.data(value)
        if isinstance(value, str):
            return self.line(value) if name in _LINES else self.text(value, pins=name in _BODIES)
        if name in _BODIES and not isinstance(value, BaseModel):
            return self._body(value)
        return self._parts(name, value)

    def _parts(self, name: str, value: Any) -> Any:
        if isinstance(value, BaseModel):
            return self._model(value)
        if isinstance(value, Mapping):
            return {key: self._field(str(key), item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            items = [self._field(name, item) for item in value]
            return tuple(items) if isinstance(value, tuple) else items
        return value

    def _body(self, value: Any) -> Any:
        """Mask secrets in a body or its parts, whose names are HAR's."""
        if isinstance(value, str):
            return self.text(value, pins=True)
        if isinstance(value, Mapping):
            return {key: item if key in _FORMAT else self._body(item) for key, item in value.items()}
        return [self._body(item) for item in value] if isinstance(value, list | tuple) else value

    def _model(self, model: BaseModel) -> BaseModel:
        fields = {name: (value, self._field(name, value)) for name, value in model}
        changed = {name: after for name, (before, after) in fields.items() if after != before}
        return model.model_copy(update=changed) if changed else model
