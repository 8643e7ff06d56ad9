"""server.json, the entry in the MCP registry: valid, current, and provably of this package."""

from __future__ import annotations

import copy
import json
import tomllib
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped] # it comes with mcp, and without types
import pytest

from orchestrator import __version__
from orchestrator.settings import unknown_variables
from tests.generators import server_json

ROOT = Path(__file__).parents[2]
SCHEMA = json.loads((ROOT / "tests" / "data" / "server.schema.json").read_text("utf-8"))


@pytest.fixture
def entry() -> dict[str, Any]:
    """The entry."""
    return json.loads(server_json.FILE.read_text("utf-8"))  # type: ignore[no-any-return]


def check(entry: dict[str, Any]) -> None:
    """Check an entry against the registry's schema."""
    jsonschema.Draft202012Validator(SCHEMA).validate(entry)


def test_the_registry_entry_is_up_to_date() -> None:
    """The file is what the settings and pyproject.toml say."""
    assert server_json.FILE.read_text("utf-8") == server_json.text(), "stale: run `make docs`"


def test_the_registry_entry_meets_the_published_schema_that_it_names(entry: dict[str, Any]) -> None:
    """The entry is valid by the schema of the version that it names."""
    check(entry)
    assert entry["$schema"] in SCHEMA["$comment"]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("name",), "webdriver-orchestrator"),
        (("description",), "long " * 21),
        (("packages", 0, "version"), "latest"),
        (("packages", 0, "transport"), {"type": "carrier-pigeon"}),
        (("packages", 0, "environmentVariables", 0, "format"), "bool"),
        (("packages", 0, "environmentVariables", 0, "default"), True),
    ],
)
def test_the_schema_refuses_an_entry_that_the_registry_would_refuse(
    entry: dict[str, Any], path: tuple[str | int, ...], value: object
) -> None:
    """The schema that was written down is no rubber stamp."""
    wrong: Any = copy.deepcopy(entry)
    place = wrong
    for part in path[:-1]:
        place = place[part]
    place[path[-1]] = value
    with pytest.raises(jsonschema.ValidationError):
        check(wrong)


def test_all_places_have_one_version(entry: dict[str, Any]) -> None:
    """The package, its code, the entry and the changelog's newest part have the same version."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    newest = (ROOT / "CHANGELOG.md").read_text("utf-8").partition("\n## ")[2].split()[0]
    assert {__version__, entry["version"], entry["packages"][0]["version"], newest} == {version}


def test_the_readme_has_the_mark_by_which_the_registry_knows_the_package(entry: dict[str, Any]) -> None:
    """The registry looks for the entry's name in the description that PyPI shows."""
    readme = (ROOT / "README.md").read_text("utf-8")
    assert f"<!-- mcp-name: {entry['name']} -->" in readme.splitlines()


def test_variables_of_the_registry_entry_are_settings(entry: dict[str, Any]) -> None:
    """A client sets variables that the server knows."""
    variables = {one["name"]: "" for one in entry["packages"][0]["environmentVariables"]}
    assert variables
    assert list(unknown_variables(variables)) == []
