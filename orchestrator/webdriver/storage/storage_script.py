"""The script that reads and writes the storage of a document's origin."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import Any, Final, NamedTuple

from pydantic import ValidationError

from orchestrator.errors import RemoteFailure
from orchestrator.models.storage_state import StoredItem, StoredOrigin

WORLD: Final = "webdriver-orchestrator"
"""The world of our scripts, in which pages change nothing."""
DATABASE_CHARACTERS = 20_000_000
"""Characters of JSON that the databases of an origin may have to be saved."""


class OriginReading(NamedTuple):
    """The storage of an origin, and a sentence for each database that could not be read."""

    stored: StoredOrigin
    warnings: list[str]


def reading_expression(most: int = DATABASE_CHARACTERS) -> str:
    """Return the expression whose promised value is read by `parse_reading`."""
    return f"{_source()}.read({json.dumps({'most': most})})"


def writing_expression(stored: StoredOrigin) -> str:
    """Return the expression that adds an origin's local storage, and replaces its databases of the same names."""
    given = stored.model_dump(by_alias=True, mode="json", exclude_none=True, exclude={"origin", "session_storage"})
    return f"{_source()}.write({json.dumps(given)})"


def session_writing_expression(items: Iterable[StoredItem]) -> str:
    """Return the expression that adds entries to the session storage of a tab."""
    given = {"sessionStorage": [item.model_dump() for item in items]}
    return f"{_source()}.write({json.dumps(given)})"


def parse_reading(text: Any) -> OriginReading | None:
    """Return what a document answered; None if it has no origin that stores.

    Raises:
        RemoteFailure: The page answered with something else.
    """
    try:
        data = json.loads(text)
        if not data.get("origin"):
            return None
        stored = StoredOrigin.model_validate(data)
        unread = [(str(one["name"]), str(one["reason"])) for one in data.get("unread", ())]
    except (ValueError, TypeError, AttributeError, LookupError, ValidationError) as error:
        raise RemoteFailure("The page's storage could not be read.", error="javascript error") from error
    warnings = [f"The database {name!r} of {stored.origin} is missing: {reason}." for name, reason in unread]
    return OriginReading(stored, warnings)


@cache
def _source() -> str:
    return files("orchestrator.webdriver.storage").joinpath("origin_storage.js").read_text("utf-8").strip()
