"""Sessions at any W3C WebDriver endpoint, by its URL."""

from __future__ import annotations

from typing import Any

from pydantic import Field, field_validator

from orchestrator.models import Endpoint, SessionType
from orchestrator.provider import Provider, SessionOptions, Start
from orchestrator.settings import endpoint
from orchestrator.webdriver.capabilities import check, merge
from orchestrator_providers.browsers import BROWSERS


class RemoteUrlOptions(SessionOptions):
    """Where the remote end is, and what is rare in a start there."""

    url: str = Field(
        description="The WebDriver endpoint, such as http://127.0.0.1:4444; user:password@ is kept secret."
    )
    browser_version: str | None = Field(default=None, description="Such as 156; what is there unless given.")
    accept_insecure_certs: bool | None = Field(default=None, description="Load pages whose certificate is not trusted.")

    @field_validator("url")
    @classmethod
    def _endpoint(cls, given: str) -> str:
        return endpoint(given)


class RemoteUrlProvider(Provider):
    """Any W3C WebDriver endpoint: a driver that runs already, a Grid, a device farm."""

    name = "remote_url"
    types = frozenset({SessionType.BROWSER})
    browsers = frozenset(BROWSERS)
    Options = RemoteUrlOptions

    def endpoint(self, start: Start) -> Endpoint:
        """The URL as it was given, and the browser's name and window as W3C capabilities."""
        options, request = start.options, start.request
        if not isinstance(options, RemoteUrlOptions):
            raise TypeError(f"options are {type(options).__name__}, not RemoteUrlOptions")
        check(request.capabilities)
        limit = start.settings.command_timeout
        # A little below our own limit, so that the remote end is the first to give up and the session lives on.
        patience = round(max(limit - 2, limit / 2) * 1000)
        ours: dict[str, Any] = {
            **BROWSERS[request.browser].capabilities(request.args, headless=start.headless),
            "pageLoadStrategy": "eager",
            "unhandledPromptBehavior": "ignore",
            "timeouts": {"script": patience, "pageLoad": patience},
        }
        if version := request.browser_version or options.browser_version:
            ours["browserVersion"] = version
        if options.accept_insecure_certs is not None:
            ours["acceptInsecureCerts"] = options.accept_insecure_certs
        return Endpoint(remote_url=options.url, capabilities=merge(ours, request.capabilities))
