"""Base models: frozen, camelCase on the wire, unknown names refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class Wire(BaseModel):
    """A value with camelCase names on the wire and snake_case names in Python; unknown names are refused."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        extra="forbid",
        frozen=True,
        hide_input_in_errors=True,
        defer_build=True,  # of hundreds of models a process uses a few dozen: each is built at its first use
    )

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        """Yield the fields that differ from their defaults."""
        fields = type(self).model_fields
        for name, value in super().__repr_args__():
            declared = fields.get(name or "")
            if declared is None or declared.is_required() or value != declared.get_default(call_default_factory=True):
                yield name, value


class StoredModel(Wire):
    """A value in the store, changed by replacing it with a changed copy."""

    def with_changes(self, **values: Any) -> Self:
        """Return a validated copy with these fields set."""
        return type(self).model_validate({**dict(self), **values})
