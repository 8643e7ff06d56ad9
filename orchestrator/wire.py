"""What every value that callers see is made of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class Wire(BaseModel):
    """A value with camelCase names outside and snake_case names inside; unknown names are refused."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        extra="forbid",
        frozen=True,
        hide_input_in_errors=True,
    )

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        """What differs from the defaults: the rest says nothing."""
        fields = type(self).model_fields
        for name, value in super().__repr_args__():
            declared = fields.get(name or "")
            if declared is None or declared.is_required() or value != declared.get_default(call_default_factory=True):
                yield name, value


class Kept(Wire):
    """A value that the store keeps, and that a changed copy takes the place of."""

    def changed(self, **values: Any) -> Self:
        """A checked copy with these fields set."""
        return type(self).model_validate({**dict(self), **values})
