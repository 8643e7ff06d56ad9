"""Rules for values of a start: each passes a value on, leaves part of it out, or denies it."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from orchestrator.errors import Denied

SETTING = "unsafe_args"
"""The setting that lifts all of them."""
_EXTENSIONS = "extensions"
"""The setting with the folders of browser extensions."""
_LONGEST = 64
"""Characters of a name that a refusal repeats."""


@dataclass
class Request:
    """The start that rules look at.

    Attributes:
        extensions: Folders that extensions may be loaded from.
        warnings: What was left out, as sentences.
    """

    extensions: tuple[Path, ...] = ()
    warnings: list[str] = field(default_factory=list)

    def warn(self, text: str) -> None:
        """Add a warning, once."""
        if text not in self.warnings:
            self.warnings.append(text)


class StartRule(ABC):
    """A rule for a value of a start."""

    @abstractmethod
    def apply(self, place: str, value: Any, request: Request) -> Any:
        """Return the value as it is passed on.

        Args:
            place: The value's name in errors, such as `goog:chromeOptions.binary`.
            value: What the caller gave.
            request: The start.

        Raises:
            Denied: It may be given only where the setting `unsafe_args` is on.
        """


def deny(place: str, instead: str = "", *, setting: str = SETTING) -> NoReturn:
    """Refuse a value by its place.

    Raises:
        Denied: Always.
    """
    shown = place if len(place) <= _LONGEST else f"{place[:_LONGEST]}…"
    raise Denied(
        f"{shown!r} is denied: a start over MCP chooses from a list of arguments that run no program and keep the "
        "browser's protections. Nothing was started.",
        setting=setting,
        instead=instead,
    )


class Anything(StartRule):
    """Passes every value on."""

    def apply(self, place: str, value: Any, request: Request) -> Any:  # noqa: ARG002 (the base's)
        """Return it."""
        return value


ANYTHING = Anything()


@dataclass(frozen=True)
class Keys(StartRule):
    """An object with keys of a list.

    Attributes:
        rules: The rule of each key's value.
        instead: What to do without a key that is not in the list, by key.
        stem: What a key's place begins with, if not the object's own place.
    """

    rules: Mapping[str, StartRule]
    instead: Mapping[str, str] = field(default_factory=dict)

    def apply(self, place: str, value: Any, request: Request) -> Any:
        """Return it with each key's value as its rule passes it on."""
        if not isinstance(value, Mapping):
            deny(place)
        return {name: self.apply_to_key(f"{place}.{name}", name, given, request) for name, given in value.items()}

    def apply_to_key(self, place: str, name: str, value: Any, request: Request) -> Any:
        """Return the value of a key as its rule passes it on."""
        if name not in self.rules:
            deny(place, self.instead.get(name, ""))
        return self.rules[name].apply(place, value, request)


@dataclass(frozen=True)
class Preferences(StartRule):
    """Preferences of a browser, flat (`a.b`) or nested.

    Attributes:
        names: The names that are allowed; one that ends with a dot stands for all that begin with it.
        instead: What to do without another one, by name.
    """

    names: frozenset[str]
    instead: Mapping[str, str] = field(default_factory=dict)

    def apply(self, place: str, value: Any, request: Request) -> Any:  # noqa: ARG002 (the base's)
        """Return it unchanged."""
        if not isinstance(value, Mapping):
            deny(place)
        for name in _leaves(value):
            if not self._allows(name):
                deny(f"{place}.{name}", self.instead.get(name, ""))
        return value

    def _allows(self, name: str) -> bool:
        parts = name.split(".")
        stems = {".".join(parts[:length]) + "." for length in range(1, len(parts))}
        return name in self.names or not stems.isdisjoint(self.names)


def _leaves(value: Mapping[str, Any], stem: str = "") -> Iterator[str]:
    """Yield the dotted names of the values in nested objects; an empty object is a value."""
    for name, inner in value.items():
        if isinstance(inner, Mapping) and inner:
            yield from _leaves(inner, f"{stem}{name}.")
        else:
            yield f"{stem}{name}"


@dataclass(frozen=True)
class Names(StartRule):
    """A list of names, or one text with names and commas between them.

    Attributes:
        known: The names that are allowed.
    """

    known: frozenset[str]

    def apply(self, place: str, value: Any, request: Request) -> Any:  # noqa: ARG002 (the base's)
        """Return it unchanged."""
        given = value.split(",") if isinstance(value, str) else value
        if not isinstance(given, Sequence):
            deny(place)
        for name in given:
            if name not in self.known:
                deny(f"{place}={name}")
        return value


@dataclass(frozen=True)
class Text(StartRule):
    """A text or number of a pattern.

    Attributes:
        pattern: What the whole text must match.
    """

    pattern: re.Pattern[str]

    def apply(self, place: str, value: Any, request: Request) -> Any:  # noqa: ARG002 (the base's)
        """Return it unchanged."""
        if not self.pattern.fullmatch(str(value)):
            deny(place)
        return value


class ExtensionFolders(StartRule):
    """Paths of unpacked extensions, with commas between them, each inside a folder of the setting `extensions`."""

    def apply(self, place: str, value: Any, request: Request) -> Any:
        """Return the paths without links, so that none can be changed meanwhile."""
        resolved = [Path(path).expanduser().resolve() for path in str(value).split(",")]
        allowed = [folder.resolve() for folder in request.extensions]
        for path in resolved:
            if not any(path.is_relative_to(folder) for folder in allowed):
                deny(place, "Extensions load from the folders that this setting names.", setting=_EXTENSIONS)
        return ",".join(map(str, resolved))


@dataclass(frozen=True)
class Switches(StartRule):
    """Command-line switches of a browser.

    Attributes:
        known: The rule of each switch's value, by its name without dashes.
        stems: Beginnings of further names that are allowed with any value.
        left_out: Why a switch is left out, by its name; the start goes on without it.
        instead: What to do without a switch that is not in the list, by name.
        spaced: Switches whose value may be the next argument.
    """

    known: Mapping[str, StartRule]
    stems: tuple[str, ...] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)
    instead: Mapping[str, str] = field(default_factory=dict)
    spaced: frozenset[str] = frozenset()

    def apply(self, place: str, value: Any, request: Request) -> Any:
        """Return the switches without those that are left out."""
        if isinstance(value, str) or not isinstance(value, Sequence):
            deny(place)
        passed, arguments = [], iter(value)
        for argument in arguments:
            name, separator, given = _split(argument)
            if name in self.left_out:
                request.warn(f"--{name} was left out: {self.left_out[name]}")
                continue
            if name in self.spaced and not separator:
                following = next(arguments, "")
                self.known[name].apply(f"{argument} {following}", following, request)
                passed += [argument, following]
                continue
            rule = self._rule(name)
            if rule is None:
                deny(_shown(argument), self.instead.get(name, ""))
            changed = rule.apply(_shown(argument), given, request)
            passed.append(f"{argument.partition('=')[0]}={changed}" if changed != given else argument)
        return passed

    def _rule(self, name: str) -> StartRule | None:
        return self.known.get(name) or (ANYTHING if name.startswith(self.stems) and self.stems else None)


def _split(argument: Any) -> tuple[str, str, str]:
    """Return a switch's name without dashes, its equals sign and its value; what is no text has no name."""
    return argument.lstrip("-").partition("=") if isinstance(argument, str) else ("", "", "")


def _shown(argument: Any) -> str:
    """Return a switch as refusals name it: without its value."""
    return str(argument).partition("=")[0]
