"""Finds the installed providers; the only place that knows the entry-point group."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from pydantic import BaseModel, ValidationError

from orchestrator.errors import InvalidArgument, OrchestratorError, ProviderFailure, nearest
from orchestrator.models import SessionType
from orchestrator.provider import Provider, SessionOptions

GROUP = "orchestrator.providers"

_TELLING = 4
"""Characters from which on a value that a message repeats is taken out of it; shorter ones are ordinary words."""


class UnknownProvider(InvalidArgument, KeyError):
    """No installed package brings a provider of this name."""

    def __init__(self, name: str, known: Iterable[str]) -> None:
        super().__init__(f"No provider is called {name!r}.", hint=nearest(name, known))


@dataclass(frozen=True, slots=True)
class Known:
    """An installed provider, and why it cannot be used if it cannot."""

    name: str
    distribution: str
    reason: str | None = None


class Providers(Mapping[str, Provider]):
    """The providers by name, each loaded and checked at its first use.

    A broken one keeps its name; using it raises `ProviderFailure` with the reason, and so does iterating over the
    values. `known` tells which these are.
    """

    def __init__(self, given: Iterable[Provider] | None = None, *, points: Iterable[EntryPoint] | None = None) -> None:
        """Take these providers, or those of the installed packages' entry points."""
        self._lock = threading.Lock()
        self._usable: dict[str, Provider] = {}
        self._broken: dict[str, ProviderFailure] = {}
        self._points: dict[str, EntryPoint] = {}
        if given is None:
            self._find(entry_points(group=GROUP) if points is None else points)
        for provider in given or ():
            _check(provider, provider.name)
            self._usable[provider.name] = provider

    def __getitem__(self, name: str) -> Provider:
        """The provider of this name.

        Raises:
            UnknownProvider: Nothing of this name is installed.
            ProviderFailure: It is installed and cannot be used.
        """
        with self._lock:
            if name in self._points and name not in self._usable and name not in self._broken:
                self._load(self._points[name])
            if name in self._broken:
                failure = self._broken[name]
                # A new one each time: an exception object collects the traces of everyone who raises it.
                raise ProviderFailure(failure.message, hint=failure.hint) from failure.__cause__
            if name not in self._usable:
                raise UnknownProvider(name, self)
            return self._usable[name]

    def __contains__(self, name: object) -> bool:
        return name in self._usable or name in self._points

    def __iter__(self) -> Iterator[str]:
        return iter(sorted({*self._usable, *self._points}))

    def __len__(self) -> int:
        return len({*self._usable, *self._points})

    def known(self) -> list[Known]:
        """Every installed provider, loaded for the purpose, with the reason of each that is broken."""
        return [Known(name, _distribution(self._points.get(name)), self._reason(name)) for name in self]

    def options(self, name: str, given: Mapping[str, Any]) -> SessionOptions:
        """Check `options` against the provider's model.

        Raises:
            InvalidArgument: It names each bad option, never its value, and lists those that there are.
        """
        model = self[name].Options
        try:
            return model.model_validate(dict(given))
        except ValidationError as error:
            names = option_names(model)
            hint = f"Options of {name!r}: {', '.join(names)}." if names else f"Provider {name!r} takes no options."
            raise InvalidArgument(_explain(error, given), hint=hint, options=names) from None

    def _find(self, points: Iterable[EntryPoint]) -> None:
        for point in points:
            first = self._points.setdefault(point.name, point)
            if first.value != point.value:
                brought = " and ".join(sorted({_distribution(first), _distribution(point)}))
                self._broken[point.name] = ProviderFailure(
                    f"Provider {point.name!r} is brought by two entry points: {first.value} and {point.value}.",
                    hint=f"Remove one of the packages: {brought}.",
                )

    def _load(self, point: EntryPoint) -> None:
        try:
            loaded = point.load()
            provider = loaded() if isinstance(loaded, type) else loaded
            _check(provider, point.name)
        except Exception as cause:  # noqa: BLE001 - whatever a package raises while it loads
            owner = _distribution(point)
            said = cause.message if isinstance(cause, OrchestratorError) else f"{type(cause).__name__}: {cause}"
            failure = ProviderFailure(
                f"Provider {point.name!r} of {owner} ({point.value}) did not load: {said.rstrip('.')}.",
                hint=f"Reinstall or remove {owner}.",
            )
            failure.__cause__ = cause
            self._broken[point.name] = failure
        else:
            self._usable[point.name] = provider

    def _reason(self, name: str) -> str | None:
        try:
            self[name]
        except ProviderFailure as failure:
            return failure.message
        return None


def option_names(model: type[BaseModel]) -> list[str]:
    """The options of a model as callers write them."""
    return [field.alias or name for name, field in model.model_fields.items()]


def _check(provider: Any, name: str) -> None:
    """Refuse what is no provider now rather than in the middle of a start."""
    problem = next(_problems(provider, name), None)
    if problem:
        raise ProviderFailure(
            f"{type(provider).__name__} {problem}.", hint="See the contract in orchestrator.provider."
        )


def _problems(provider: Any, name: str) -> Iterator[str]:
    if not isinstance(provider, Provider):
        yield "is no subclass of orchestrator.provider.Provider"
        return
    own = getattr(provider, "name", None)
    if own != name:
        yield f"calls itself {own!r}, its entry point {name!r}"
    types = getattr(provider, "types", None)
    if not isinstance(types, frozenset) or not types or not all(isinstance(kind, SessionType) for kind in types):
        yield "has no `types`, a frozenset of SessionType"
    options = getattr(provider, "Options", None)
    if not (isinstance(options, type) and issubclass(options, SessionOptions)):
        yield "has no `Options`, a subclass of orchestrator.provider.SessionOptions"
    elif options.model_config.get("extra") != "forbid":
        yield "has `Options` that take unknown names; their configuration must say extra='forbid'"


def _distribution(point: EntryPoint | None) -> str:
    return point.dist.name if point is not None and point.dist is not None else "no distribution"


def _explain(error: ValidationError, given: Mapping[str, Any]) -> str:
    """One sentence for each bad option."""
    said: dict[str, list[str]] = {}
    for found in error.errors(include_input=False, include_url=False, include_context=False):
        name = str(found["loc"][0]) if found["loc"] else "options"
        unknown = found["type"] == "extra_forbidden" and len(found["loc"]) == 1
        said.setdefault(name, []).append("there is no such option" if unknown else _message(found["msg"], given))
    return " ".join(f"Option {name!r}: {'; or '.join(dict.fromkeys(texts))}." for name, texts in said.items())


def _message(text: str, given: Any) -> str:
    """A model's message without the values given: they can be secrets, and a validator may repeat them."""
    text = text.removeprefix("Value error, ").removeprefix("Assertion failed, ").rstrip(".")
    for value in sorted(_leaves(given), key=len, reverse=True):
        text = text.replace(value, "…")
    return text


def _leaves(given: Any) -> Iterator[str]:
    if isinstance(given, Mapping):
        for value in given.values():
            yield from _leaves(value)
    elif isinstance(given, list | tuple):
        for value in given:
            yield from _leaves(value)
    elif given is not None and len(str(given)) >= _TELLING:
        yield str(given)
