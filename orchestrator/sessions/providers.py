"""Finds installed providers by their entry points, and checks options by their models."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from pydantic import BaseModel, ValidationError

from orchestrator.errors import InvalidArgument, OrchestratorError, ProviderFailure
from orchestrator.models.near_names import nearest
from orchestrator.models.session import SessionType
from orchestrator.provider import Provider, SessionOptions
from orchestrator.webdriver.credentials import Credentials

GROUP = "orchestrator.providers"

_SHORTEST_REDACTED = 4
"""Characters of the shortest value that is removed from a message; shorter ones are ordinary words."""


class UnknownProvider(InvalidArgument, KeyError):
    """No installed package has a provider of this name."""

    def __init__(self, name: str, known: Iterable[str]) -> None:
        super().__init__(f"No provider is called {name!r}.", hint=nearest(name, known))


@dataclass(frozen=True, slots=True)
class InstalledProvider:
    """An installed provider, with the reason if it cannot be used."""

    name: str
    distribution: str
    reason: str | None = None


class Providers(Mapping[str, Provider]):
    """Providers by name, each loaded and checked at its first use.

    A broken provider keeps its name; using it raises `ProviderFailure` with the reason, and so does iterating over the
    values. `list_installed` reports all of them.
    """

    def __init__(self, given: Iterable[Provider] | None = None, *, points: Iterable[EntryPoint] | None = None) -> None:
        """Use these providers, or those of the installed packages' entry points."""
        self.credentials = Credentials()
        self._lock = threading.Lock()
        self._usable: dict[str, Provider] = {}
        self._broken: dict[str, ProviderFailure] = {}
        self._points: dict[str, EntryPoint] = {}
        if given is None:
            self._find(entry_points(group=GROUP) if points is None else points)
        for provider in given or ():
            _check(provider, provider.name)
            self._add(provider.name, provider)

    def __getitem__(self, name: str) -> Provider:
        """Return the provider of this name.

        Raises:
            UnknownProvider: No provider of this name is installed.
            ProviderFailure: It is installed and cannot be used.
        """
        with self._lock:
            if name in self._points and name not in self._usable and name not in self._broken:
                self._load(self._points[name])
            if name in self._broken:
                failure = self._broken[name]
                # A new error each time, since an exception collects the tracebacks of all who raise it.
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

    def list_installed(self) -> list[InstalledProvider]:
        """Load all installed providers and list them, with the reason of each that is broken."""
        return [InstalledProvider(name, _distribution(self._points.get(name)), self._reason(name)) for name in self]

    def options(self, name: str, given: Mapping[str, Any]) -> SessionOptions:
        """Check `options` against the provider's model.

        Raises:
            InvalidArgument: Names each wrong option, never its value, and lists the valid ones.
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
                packages = " and ".join(sorted({_distribution(first), _distribution(point)}))
                self._broken[point.name] = ProviderFailure(
                    f"Provider {point.name!r} has two entry points: {first.value} and {point.value}.",
                    hint=f"Remove one of the packages: {packages}.",
                )

    def _load(self, point: EntryPoint) -> None:
        try:
            loaded = point.load()
            provider = loaded() if isinstance(loaded, type) else loaded
            _check(provider, point.name)
        except Exception as cause:  # noqa: BLE001 - a package may raise anything while it loads
            package = _distribution(point)
            message = cause.message if isinstance(cause, OrchestratorError) else f"{type(cause).__name__}: {cause}"
            failure = ProviderFailure(
                f"Provider {point.name!r} of {package} ({point.value}) did not load: {message.rstrip('.')}.",
                hint=f"Reinstall or remove {package}.",
            )
            failure.__cause__ = cause
            self._broken[point.name] = failure
        else:
            self._add(point.name, provider)

    def _add(self, name: str, provider: Provider) -> None:
        provider.credentials = self.credentials
        self._usable[name] = provider

    def _reason(self, name: str) -> str | None:
        try:
            self[name]
        except ProviderFailure as failure:
            return failure.message
        return None


def option_names(model: type[BaseModel]) -> list[str]:
    """List the wire names of a model's options."""
    return [field.alias or name for name, field in model.model_fields.items()]


def _check(provider: Any, name: str) -> None:
    """Refuse a wrong provider when it is loaded rather than in the middle of a start."""
    problem = next(_problems(provider, name), None)
    if problem:
        raise ProviderFailure(
            f"{type(provider).__name__} {problem}.", hint="See the contract in orchestrator.provider."
        )


def _problems(provider: Any, name: str) -> Iterator[str]:
    if not isinstance(provider, Provider):
        yield "is not a subclass of orchestrator.provider.Provider"
        return
    own_name = getattr(provider, "name", None)
    if own_name != name:
        yield f"is named {own_name!r}, but its entry point {name!r}"
    types = getattr(provider, "types", None)
    if not isinstance(types, frozenset) or not types or not all(isinstance(kind, SessionType) for kind in types):
        yield "has no `types`, a frozenset of SessionType"
    options = getattr(provider, "Options", None)
    if not (isinstance(options, type) and issubclass(options, SessionOptions)):
        yield "has no `Options`, a subclass of orchestrator.provider.SessionOptions"
    elif options.model_config.get("extra") != "forbid":
        yield "has `Options` that accept unknown names; their model_config needs extra='forbid'"


def _distribution(point: EntryPoint | None) -> str:
    return point.dist.name if point is not None and point.dist is not None else "no distribution"


def _explain(error: ValidationError, given: Mapping[str, Any]) -> str:
    """Return one sentence for each wrong option."""
    problems: dict[str, list[str]] = {}
    for problem in error.errors(include_input=False, include_url=False, include_context=False):
        name = str(problem["loc"][0]) if problem["loc"] else "options"
        unknown = problem["type"] == "extra_forbidden" and len(problem["loc"]) == 1
        problems.setdefault(name, []).append("there is no such option" if unknown else _message(problem["msg"], given))
    return " ".join(f"Option {name!r}: {'; or '.join(dict.fromkeys(texts))}." for name, texts in problems.items())


def _message(text: str, given: Any) -> str:
    """Remove the given values from a validator's message, since they can be secrets."""
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
    elif given is not None and len(str(given)) >= _SHORTEST_REDACTED:
        yield str(given)
