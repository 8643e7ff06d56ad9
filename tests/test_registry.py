"""Providers come from any package, some of them broken; the registry names each and what is wrong with it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from textwrap import dedent

import pytest
from pydantic import ConfigDict, SecretStr, field_validator

from orchestrator.errors import InvalidArgument, ProviderFailure
from orchestrator.models import Endpoint, SessionType
from orchestrator.provider import Provider, SessionOptions, Start
from orchestrator.registry import GROUP, Known, Providers, UnknownProvider


class AcmeOptions(SessionOptions):
    """Options with everything that can go wrong."""

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
    """A provider that is right."""

    name = "acme"
    types = frozenset({SessionType.BROWSER})
    Options = AcmeOptions

    def endpoint(self, start: Start) -> Endpoint:
        """Where acme is."""
        return Endpoint(remote_url="http://acme.test", capabilities={"acme:id": start.request.session_id})


class Misnamed(Acme):
    """Its entry point says otherwise."""

    name = "other"


class Untyped(Acme):
    """It serves no type of session."""

    types = frozenset()


class Lax(Acme):
    """Its options take anything."""

    class Options(SessionOptions):
        """Options that swallow misspelt names."""

        model_config = ConfigDict(extra="ignore")


PLUGIN = """
raise RuntimeError("no licence")
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A real installed distribution, `acme-grid`, whose provider fails when it is imported."""
    (tmp_path / "acme_grid.py").write_text(dedent(PLUGIN), "utf-8")
    info = tmp_path / "acme_grid-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-grid\nVersion: 1.0\n", "utf-8")
    (info / "entry_points.txt").write_text(f"[{GROUP}]\nacme = acme_grid:Acme\n", "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    sys.modules.pop("acme_grid", None)


def point(name: str, value: str) -> EntryPoint:
    """An entry point of no package; `value` names something in this file."""
    return EntryPoint(name, f"{__name__}:{value}", GROUP)


def failure(value: str) -> str:
    """What using the provider `acme` says when its entry point leads there."""
    with pytest.raises(ProviderFailure) as caught:
        Providers(points=[point("acme", value)])["acme"]
    return str(caught.value)


def test_providers_are_a_mapping() -> None:
    """By name, and what is not there is a KeyError, or `in` and `get` break."""
    acme = Acme()
    providers = Providers([acme])

    assert dict(providers) == {"acme": acme}
    assert "acme" in providers
    assert "other" not in providers
    assert providers.get("other") is None
    assert providers.known() == [Known("acme", "no distribution")]


def test_unknown_provider_brings_the_nearest() -> None:
    """An invalid argument and a KeyError in one."""
    with pytest.raises(UnknownProvider) as caught:
        Providers([Acme()])["acmee"]

    assert str(caught.value) == "No provider is called 'acmee'. Did you mean 'acme'?"
    assert isinstance(caught.value, KeyError)
    assert isinstance(caught.value, InvalidArgument)


def test_entry_points_are_loaded_at_their_first_use() -> None:
    """A package that is never used cannot slow down a start, nor break it."""
    providers = Providers(points=[point("acme", "Acme"), point("broken", "Nothing")])

    assert list(providers) == ["acme", "broken"]
    assert isinstance(providers["acme"], Acme)
    assert providers["acme"] is providers["acme"]
    assert "broken" in providers


def test_broken_package_is_named(package: Path) -> None:
    """The entry point, its distribution, the cause and the next move; the same each time."""
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
    assert providers.known() == [Known("acme", "acme-grid", expected.partition(" Reinstall")[0])]
    assert package.exists()


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("AcmeOptions", "AcmeOptions is no subclass of orchestrator.provider.Provider"),
        ("Misnamed", "Misnamed calls itself 'other', its entry point 'acme'"),
        ("Untyped", "Untyped has no `types`, a frozenset of SessionType"),
        ("Lax", "Lax has `Options` that take unknown names; their configuration must say extra='forbid'"),
        ("Provider", "TypeError: Can't instantiate abstract class Provider with abstract method endpoint"),
    ],
)
def test_provider_is_checked_when_it_is_loaded(value: str, reason: str) -> None:
    """Not in the middle of a start."""
    assert reason in failure(value)


def test_one_name_brought_twice_is_nobody_s() -> None:
    """Which of two packages is meant is not guessed."""
    providers = Providers(points=[point("acme", "Acme"), point("acme", "Lax")])
    with pytest.raises(ProviderFailure, match="brought by two entry points"):
        providers["acme"]


def test_options_become_the_providers_model() -> None:
    """By the names that callers write."""
    assert Providers([Acme()]).options("acme", {"buildName": "b", "maxTabs": 2}) == AcmeOptions(
        build_name="b", max_tabs=2
    )


def test_bad_options_are_named_and_never_repeated() -> None:
    """Each is named, those that there are are listed, and no value is shown: it can be a secret."""
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
