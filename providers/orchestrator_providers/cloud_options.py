"""The options that every cloud takes, and what is no option of any: credentials."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import Field, model_validator

from orchestrator.provider import SessionOptions

_CREDENTIALS = frozenset({"username", "user", "accesskey", "access_key", "key", "apikey", "secret", "password"})


class CloudOptions(SessionOptions):
    """The options of every cloud. A vendor's own are added under the names that its documentation gives them."""

    standard: ClassVar[tuple[str, ...]] = ("accept_insecure_certs",)
    """Those that are capabilities of the standard, and not of the vendor's block."""
    ours: ClassVar[tuple[str, ...]] = ()
    """Those that say where to go, and are no capabilities."""
    variables: ClassVar[str] = ""
    """The environment variables that the credentials are from, for errors."""

    accept_insecure_certs: bool | None = Field(default=None, description="Load pages whose certificate is not trusted.")

    @model_validator(mode="before")
    @classmethod
    def _without_credentials(cls, given: Any) -> Any:
        if isinstance(given, Mapping) and (found := credential(given)):
            raise ValueError(f"{found!r} is no option, for it would be kept: set {cls.variables}")
        return given

    def own(self) -> dict[str, Any]:
        """The vendor's own options that were given, by the vendor's names."""
        others = {*TunnelOptions.model_fields, *self.standard, *self.ours}
        return self.model_dump(mode="json", by_alias=True, exclude_none=True, exclude=others)

    def of_standard(self) -> dict[str, Any]:
        """The capabilities of the standard that were given."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True, include=set(self.standard))


class TunnelOptions(CloudOptions):
    """The option of those clouds whose tunnel can be started for a session."""

    start_tunnel: bool = Field(
        default=False, description="Start the vendor's tunnel for this session, and end it with it."
    )


def credential(given: Mapping[str, Any]) -> str | None:
    """The first name among these that is one of a credential."""
    return next((name for name in given if str(name).lower() in _CREDENTIALS), None)
