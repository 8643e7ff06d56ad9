"""The options of the provider `local`."""

from __future__ import annotations

import re
from typing import Any, Self
from urllib.parse import urlsplit

from pydantic import Field, field_validator, model_validator

from orchestrator.models.comma_lists import split_list
from orchestrator.provider import SessionOptions

_RULE = re.compile(r"MAP\s+[^\s,]+\s+[^\s,]+|EXCLUDE\s+[^\s,]+", re.IGNORECASE)
_HOST = re.compile(r"[^\s,]+")
_PROXY_TYPES = ("autodetect", "direct", "manual", "pac", "system")


class LocalOptions(SessionOptions):
    """Rarely needed options of a local start."""

    browser_version: str | None = Field(
        default=None, description="Such as 156; Selenium Manager fetches it if another one is installed."
    )
    host_rules: dict[str, str] | str | None = Field(
        default=None,
        description="Resolve hosts: {'shop.test': '127.0.0.1:8000'}, or text for --host-resolver-rules.",
    )
    proxy: dict[str, Any] | str | None = Field(
        default=None,
        description="A W3C proxy object, or a URL: http://host:port, socks5://host:port. Loopback is not proxied.",
    )
    accept_insecure_certs: bool | None = Field(default=None, description="Load pages with untrusted certificates.")

    private: bool = Field(
        default=False,
        description="Chromium without a debugger's port, open to all on this machine; no contexts, routes or HAR then.",
    )

    @model_validator(mode="after")
    def _without_debugger(self) -> Self:
        if self.private and (self.har or self.hars):
            raise ValueError("a private browser has no debugger, which har and hars need")
        return self

    @property
    def can_share_browser(self) -> bool:
        """True unless it is private: what others would share it by is missing."""
        return not self.private

    @field_validator("host_rules")
    @classmethod
    def _rules(cls, given: dict[str, str] | str | None) -> dict[str, str] | str | None:
        if isinstance(given, dict) and not all(map(_HOST.fullmatch, (*given, *given.values()))):
            raise ValueError("host names and addresses must have no spaces or commas")
        if isinstance(given, str) and not all(_RULE.fullmatch(rule.strip()) for rule in given.split(",")):
            raise ValueError("write 'MAP host address' or 'EXCLUDE host', separated by commas")
        return given

    @field_validator("proxy")
    @classmethod
    def _proxy(cls, given: dict[str, Any] | str | None) -> dict[str, Any] | None:
        if isinstance(given, str):
            return _parse_proxy(given)
        if given is not None and given.get("proxyType") not in _PROXY_TYPES:
            raise ValueError(f"proxyType must be one of {', '.join(_PROXY_TYPES)}")
        return given

    def resolver_rules(self) -> list[str]:
        """The rules for hosts as Chromium spells them."""
        if isinstance(self.host_rules, dict):
            return [f"MAP {host} {address}" for host, address in self.host_rules.items()]
        return split_list(self.host_rules or "")

    def capabilities(self) -> dict[str, Any]:
        """The W3C capabilities for these options."""
        wanted = {"proxy": self.proxy, "acceptInsecureCerts": self.accept_insecure_certs}
        return {name: value for name, value in wanted.items() if value is not None}


def _parse_proxy(url: str) -> dict[str, Any]:
    """The W3C proxy object for a URL, which errors never repeat, since it can hold a password."""
    try:
        parts = urlsplit(url)
        address = f"{parts.hostname or ''}:{parts.port or (1080 if parts.scheme.startswith('socks') else 80)}"
    except ValueError:
        raise ValueError("the proxy is not a URL") from None
    if "@" in parts.netloc:
        raise ValueError("Chrome takes no user and password for a proxy; use one without")
    if not parts.hostname:
        raise ValueError("the proxy's URL has no host")
    if parts.scheme in {"socks4", "socks5"}:
        return {"proxyType": "manual", "socksProxy": address, "socksVersion": int(parts.scheme[-1])}
    if parts.scheme == "http":
        return {"proxyType": "manual", "httpProxy": address, "sslProxy": address}
    raise ValueError("the proxy's URL must begin with http://, socks4:// or socks5://")
