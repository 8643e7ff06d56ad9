"""The provider `remote_url`: sessions at any W3C WebDriver endpoint."""

from __future__ import annotations

from pydantic import Field, field_validator

from orchestrator.models.paths import RemoteAddress
from orchestrator.models.requests import Endpoint
from orchestrator.models.session import SessionType
from orchestrator.provider import Provider, SessionOptions, Start
from orchestrator.settings import Settings
from orchestrator.webdriver.capabilities import check_capabilities, merge_capabilities
from orchestrator_providers.browsers import BROWSERS
from orchestrator_providers.capabilities import browser_capabilities, is_elsewhere, resolve_url, url_or_secret


class RemoteUrlOptions(SessionOptions):
    """The remote end's URL, and rare options of a start there."""

    url: RemoteAddress = Field(
        description="The WebDriver endpoint, or secret:NAME; user and password in it stay secret."
    )
    browser_version: str | None = Field(default=None, description="Such as 156; any version unless given.")
    accept_insecure_certs: bool | None = Field(default=None, description="Load pages whose certificate is not trusted.")

    @field_validator("url")
    @classmethod
    def _endpoint(cls, given: str) -> str | None:
        return url_or_secret(given)


class RemoteUrlProvider(Provider):
    """Any W3C WebDriver endpoint: a driver that runs already, a device farm."""

    name = "remote_url"
    types = frozenset({SessionType.BROWSER})
    browsers = frozenset(BROWSERS)
    Options = RemoteUrlOptions

    def runs_elsewhere(self, options: SessionOptions, settings: Settings) -> bool:
        """Return True for an endpoint on another machine."""
        if not isinstance(options, RemoteUrlOptions):
            raise TypeError(f"options are {type(options).__name__}, not RemoteUrlOptions")
        return is_elsewhere(options.url, settings)

    def endpoint(self, start: Start) -> Endpoint:
        """Return the given URL, and the browser's name and window as W3C capabilities."""
        options = start.options
        if not isinstance(options, RemoteUrlOptions):
            raise TypeError(f"options are {type(options).__name__}, not RemoteUrlOptions")
        check_capabilities(start.request.capabilities)
        url, secret = resolve_url(options.url, start.settings)
        ours = browser_capabilities(start, headless=start.headless)
        if options.browser_version and "browserVersion" not in ours:
            ours["browserVersion"] = options.browser_version
        if options.accept_insecure_certs is not None:
            ours["acceptInsecureCerts"] = options.accept_insecure_certs
        return Endpoint(
            remote_url=url, capabilities=merge_capabilities(ours, start.request.capabilities), secret=secret
        )
