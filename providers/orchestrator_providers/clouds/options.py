"""Options of every cloud; credentials among them are refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import Field, model_validator

from orchestrator.provider import SessionOptions

_CREDENTIALS = frozenset({"username", "user", "accesskey", "access_key", "key", "apikey", "secret", "password"})


class CloudOptions(SessionOptions):
    """Options of every cloud. A vendor's own are added under their documented names."""

    standard: ClassVar[tuple[str, ...]] = ("accept_insecure_certs",)
    """Options that are W3C capabilities, outside of the vendor's block."""
    unsent_options: ClassVar[tuple[str, ...]] = ()
    """Options that select the endpoint, and are no capabilities."""
    variables: ClassVar[str] = ""
    """The environment variables of the credentials, for errors."""

    accept_insecure_certs: bool | None = Field(default=None, description="Load pages whose certificate is not trusted.")

    @model_validator(mode="before")
    @classmethod
    def _without_credentials(cls, given: Any) -> Any:
        if isinstance(given, Mapping) and (forbidden := credential(given)):
            raise ValueError(f"{forbidden!r} is no option, since it would be stored: set {cls.variables}")
        return given

    def vendor_options(self) -> dict[str, Any]:
        """Return the given options of the vendor, by the vendor's names."""
        others = {*TunnelOptions.model_fields, *self.standard, *self.unsent_options}
        return self.model_dump(mode="json", by_alias=True, exclude_none=True, exclude=others)

    def standard_capabilities(self) -> dict[str, Any]:
        """Return the given W3C capabilities."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True, include=set(self.standard))


class TunnelOptions(CloudOptions):
    """The option of clouds whose tunnel can be started for a session."""

    start_tunnel: bool = Field(
        default=False, description="Start the vendor's tunnel for this session, and end it with it."
    )


def credential(given: Mapping[str, Any]) -> str | None:
    """Return the first name of a credential; None if there is none."""
    return next((name for name in given if str(name).lower() in _CREDENTIALS), None)
