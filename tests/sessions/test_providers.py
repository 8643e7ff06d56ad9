"""Providers come from any package, some of them broken; the registry names each broken one and its fault."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from textwrap import dedent

import pytest
from pydantic import ConfigDict, SecretStr, field_validator

from orchestrator.errors import InvalidArgument, ProviderFailure
from orchestrator.models.requests import Endpoint
from orchestrator.models.session import SessionType
from orchestrator.provider import Provider, SessionOptions, Start
from orchestrator.sessions.providers import GROUP, InstalledProvider, Providers, UnknownProvider


class AcmeOptions(SessionOptions):
    """Options with every possible fault."""

    build_name: str | None = None
    max_tabs: int = 1
    access_key: SecretStr | None = None
    region: str = "eu"

    @field_validator("region")
    @classmethod
    def _loud(cls, given: str) -> str:
        if given != "eu":
            raise ValueError(f"{given} is no region")
        return given


class Acme(Provider):
    """A valid provider."""

    name = "acme"
    types = frozenset({SessionType.BROWSER})
    Options = AcmeOptions

    def endpoint(self, start: Start) -> Endpoint:
        """Return a dummy endpoint."""
        return Endpoint(remote_url="http://acme.test", capabilities={"acme:id": start.request.session_id})


class Misnamed(Acme):
    """A provider whose name differs from its entry point's."""

    name = "other"


class Untyped(Acme):
    """A provider without session types."""

    types = frozenset()


class Lax(Acme):
    """A provider whose options accept any field."""

    class Options(SessionOptions):
        """Options that accept misspelt names."""

        model_config = ConfigDict(extra="ignore")


PLUGIN = """
raise RuntimeError("no licence")
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An installed distribution, `acme-grid`, whose provider fails when it is imported."""
    (tmp_path / "acme_grid.py").write_text(dedent(PLUGIN), "utf-8")
    info = tmp_path / "acme_grid-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-grid\nVersion: 1.0\n", "utf-8")
    (info / "entry_points.txt").write_text(f"[{GROUP}]\nacme = acme_grid:Acme\n", "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    sys.modules.pop("acme_grid", None)


def point(name: str, value: str) -> EntryPoint:
    """Return an entry point of no package; `value` names an object in this file."""
    return EntryPoint(name, f"{__name__}:{value}", GROUP)


def failure(value: str) -> str:
    """Return the error of the provider `acme` with this entry point."""
    with pytest.raises(ProviderFailure) as caught:
        Providers(points=[point("acme", value)])["acme"]
    return str(caught.value)


def test_providers_are_a_mapping() -> None:
    """Providers are found by name; a missing one is a KeyError, so that `in` and `get` work."""
    acme = Acme()
    providers = Providers([acme])

    assert dict(providers) == {"acme": acme}
    assert "acme" in providers
    assert "other" not in providers
    assert providers.get("other") is None
    assert providers.list_installed() == [InstalledProvider("acme", "no distribution")]


def test_an_unknown_provider_is_refused_with_the_nearest_name() -> None:
    """The error for an unknown provider is an InvalidArgument and a KeyError in one."""
    with pytest.raises(UnknownProvider) as caught:
        Providers([Acme()])["acmee"]

    assert str(caught.value) == "No provider is called 'acmee'. Did you mean 'acme'?"
    assert isinstance(caught.value, KeyError)
    assert isinstance(caught.value, InvalidArgument)


def test_provider_entry_points_are_loaded_at_their_first_use() -> None:
    """A package that is never used can neither delay a start nor break it."""
    providers = Providers(points=[point("acme", "Acme"), point("broken", "Nothing")])

    assert list(providers) == ["acme", "broken"]
    assert isinstance(providers["acme"], Acme)
    assert providers["acme"] is providers["acme"]
    assert "broken" in providers


def test_a_provider_package_that_fails_to_import_is_named_with_the_cause(package: Path) -> None:
    """The error names entry point, distribution, cause and next step, the same each time."""
    providers = Providers(points=[found for found in entry_points(group=GROUP) if found.name == "acme"])
    expected = (
        "Provider 'acme' of acme-grid (acme_grid:Acme) did not load: RuntimeError: no licence. "
        "Reinstall or remove acme-grid."
    )
    for _ in range(2):
        with pytest.raises(ProviderFailure) as caught:
            providers["acme"]
        assert str(caught.value) == expected
        assert isinstance(caught.value.__cause__, RuntimeError)
    assert providers.list_installed() == [InstalledProvider("acme", "acme-grid", expected.partition(" Reinstall")[0])]
    assert package.exists()


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("AcmeOptions", "AcmeOptions is not a subclass of orchestrator.provider.Provider"),
        ("Misnamed", "Misnamed is named 'other', but its entry point 'acme'"),
        ("Untyped", "Untyped has no `types`, a frozenset of SessionType"),
        ("Lax", "Lax has `Options` that accept unknown names; their model_config needs extra='forbid'"),
        ("Provider", "TypeError: Can't instantiate abstract class Provider with abstract method endpoint"),
    ],
)
def test_an_invalid_provider_is_refused_when_it_is_loaded(value: str, reason: str) -> None:
    """A faulty provider class is refused on loading, not in the middle of a session start."""
    assert reason in failure(value)


def test_a_provider_name_brought_by_two_entry_points_is_refused() -> None:
    """A name with two packages is refused, since neither is preferred."""
    providers = Providers(points=[point("acme", "Acme"), point("acme", "Lax")])
    with pytest.raises(ProviderFailure, match="has two entry points"):
        providers["acme"]


def test_provider_options_are_read_into_the_providers_model() -> None:
    """Options in camelCase, as callers write them, are read into the provider's own model."""
    assert Providers([Acme()]).options("acme", {"buildName": "b", "maxTabs": 2}) == AcmeOptions(
        build_name="b", max_tabs=2
    )


def test_bad_provider_options_are_named_without_their_values() -> None:
    """Bad options are named and valid ones listed, but no value is shown: it can be a secret."""
    given = {"maxTabs": "hunter2", "nope": "hunter3", "region": "hunter4", "accessKey": ["hunter5"]}
    with pytest.raises(InvalidArgument) as caught:
        Providers([Acme()]).options("acme", given)

    said = str(caught.value)
    assert "hunter" not in said
    assert "Option 'nope': there is no such option." in said
    assert "Option 'maxTabs': Input should be a valid integer" in said
    assert "Option 'region': … is no region." in said
    ours = ["idleTimeout", "maxDuration", "startTimeout", "strict", "har", "hars"]
    options = [*ours, "buildName", "maxTabs", "accessKey", "region"]
    assert caught.value.hint == f"Options of 'acme': {', '.join(options)}."
    assert caught.value.details["options"] == options
    assert caught.value.__suppress_context__
