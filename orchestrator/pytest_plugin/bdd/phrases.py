"""Phrases of steps: how a step reads, and the function that it calls."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from orchestrator.pytest_plugin.bdd.world import ScenarioWorld

_QUOTED = r'"(?P<{}>[^"]*)"'
_PATTERNS = {
    "user": r"(?P<user>[^\W\d]\w*)",
    "platform": "(?P<platform>web|ios|android)",
    "seconds": r"(?P<seconds>\d+(?:\.\d+)?)",
    "what": "(?P<what>text|elements|screenshot)",
    "variable": r"(?P<variable>[^\W\d]\w*)",
    "role": r"(?P<role>\S+)",
    "keys": r"(?P<keys>\S+(?: \S+)*)",
}
_PART = re.compile(r"\{(\w+)\}|\(([^()]*)\)|(\w+(?:/\w+)+)")


@dataclass(frozen=True)
class Phrase:
    """A step: `words` as the documentation shows them, `about` in a sentence, and the function it calls.

    In `words`, `{name}` is a parameter, `(…)` may be left out, and of `a/b` either is right.
    """

    words: str
    about: str
    function: Callable[..., object]

    @property
    def pattern(self) -> str:
        """The regular expression of the whole step, with a named group for each parameter."""
        return _to_pattern(self.words)


PHRASES: list[Phrase] = []
"""All ready-made steps, in the order of the documentation."""


def phrase(words: str) -> Callable[[Callable[..., object]], Callable[..., object]]:
    """Declare a step; variables in its texts, table and doc string are replaced before the function is called."""

    def declare(function: Callable[..., object]) -> Callable[..., object]:
        @functools.wraps(function)
        def step(world: ScenarioWorld, **given: Any) -> object:
            __tracebackhide__ = True
            return function(world, **{name: _fill(world, value) for name, value in given.items()})

        PHRASES.append(Phrase(words, (function.__doc__ or "").strip(), step))
        return function

    return declare


def _fill(world: ScenarioWorld, value: Any) -> Any:
    if isinstance(value, str):
        return world.fill(value)
    return [_fill(world, part) for part in value] if isinstance(value, list | tuple) else value


def _to_pattern(words: str) -> str:
    parts, last = [], 0
    for found in _PART.finditer(words):
        name, optional, either = found.groups()
        parts.append(re.escape(words[last : found.start()]))
        if name:
            parts.append(_PATTERNS.get(name, _QUOTED.format(name)))
        elif optional:
            parts.append(f"(?:{_to_pattern(optional)})?")
        else:
            parts.append(f"(?:{either.replace('/', '|')})")
        last = found.end()
    return "".join(parts) + re.escape(words[last:])
