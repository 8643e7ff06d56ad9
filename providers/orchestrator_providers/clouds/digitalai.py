"""Digital.ai Testing, formerly Experitest: an organisation's own cloud, by its URL.

Sources: https://docs.digital.ai/continuous-testing/docs/te/test-execution-home/ (capabilities, device queries, the
command `seetest:client.setReportStatus`), https://docs.digital.ai/continuous-testing/docs/pm/project-management/rest-api/
applications-rest-api (apps). Browsers take flat capabilities `digitalai:…`, devices the block `digitalai:options`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import Field

from orchestrator.errors import ProviderAuth
from orchestrator.models.session import SessionRecord, SessionType
from orchestrator.models.test_status import TestStatus
from orchestrator.provider import Start, StoredApp
from orchestrator.settings import Settings
from orchestrator.system.secrets import find_secret, without_credentials
from orchestrator_providers.clouds.app_storage import AppStorage, text
from orchestrator_providers.clouds.base import CloudProvider
from orchestrator_providers.clouds.options import CloudOptions

_URL = "DIGITALAI_CLOUD_URL"
_HUB = "/wd/hub"


class DigitalAiOptions(CloudOptions):
    """The options of Digital.ai."""

    variables: ClassVar[str] = "DIGITALAI_ACCESS_KEY"

    test_name: str | None = Field(default=None, description="The report's name; the session's id here unless given.")
    os_name: str | None = Field(default=None, description="Browsers: the desktop's system, such as Windows 11.")
    device_query: str | None = Field(
        default=None,
        description="Devices: a query such as @os='ios'; made from deviceName and platformVersion unless given.",
    )
    appium_version: str | None = Field(default=None, description="The Appium that runs it.")
    report_disable: bool | None = Field(default=None, alias="report.disable", description="Keep no report.")
    new_session_wait_timeout: int | None = Field(default=None, description="Seconds until there must be a device.")
    instrument_app: bool | None = Field(default=None, description="Instrument the app.")
    application_clear_data: bool | None = Field(default=None, description="Clear the app's data first.")
    install_only_for_update: bool | None = Field(
        default=None, description="Install it only where it is another version."
    )
    app_build_version: str | None = Field(default=None, description="Which build of the app in the storage.")
    app_release_version: str | None = Field(default=None, description="Which release of the app in the storage.")
    dont_go_home_on_quit: bool | None = Field(default=None, description="Leave the app in front at the end.")
    release_device: bool | None = Field(default=None, description="false: keep the device at the end.")
    self_healing: bool | None = Field(default=None, description="Let locators that broke be mended.")


def _app(answer: Mapping[str, Any]) -> StoredApp:
    unique = text(answer.get("uniqueName"))
    name = text(answer.get("name") or answer.get("bundleIdentifier") or answer.get("packageName"))
    if unique is None and name is None:
        raise KeyError("name")
    return StoredApp(
        app=f"cloud:uniqueName={unique}" if unique else f"cloud:{name}",
        name=text(answer.get("applicationName")) or name,
        version=text(answer.get("releaseVersion") or answer.get("version")),
        id=text(answer.get("id")),
        custom_id=unique,
        uploaded_at=text(answer.get("createdAt")),
    )


class DigitalAiProvider(CloudProvider):
    """A Digital.ai cloud's browsers, devices and apps."""

    name = "digitalai"
    browsers = frozenset({"chrome", "edge", "firefox", "safari"})
    Options = DigitalAiOptions
    title = "Digital.ai"
    block = "digitalai:options"
    users = ()
    keys = ("DIGITALAI_ACCESS_KEY",)
    session_name = "testName"
    storage = AppStorage(
        title="Digital.ai",
        base="",
        upload_path="/api/v1/applications/new",
        file_field="file",
        list_paths=("/api/v1/applications",),
        read=_app,
        uploaded="data",
        listed="data",
        id_field="uniqueName",
        shown="/api/v1/applications/{id}",
    )

    def hub(self, start: Start, options: CloudOptions) -> str:  # noqa: ARG002 - there is one
        """Return the hub of the organisation's cloud."""
        return f"{_cloud(start.settings)}{_HUB}"

    def known_hubs(self, settings: Settings) -> tuple[str, ...]:
        """Return the hub of the organisation's cloud, and that of the setting."""
        given = find_secret(_URL, settings.secrets_file)
        return (*super().known_hubs(settings), *([f"{_cloud(settings)}{_HUB}"] if given else []))

    def vendor_options(self, start: Start, options: CloudOptions) -> dict[str, Any]:
        """Return the vendor's options, which select a device by a query."""
        own = super().vendor_options(start, options)
        if start.request.type is not SessionType.BROWSER:
            own = {"deviceQuery": _query(start)} | own
        return own

    def vendor_capabilities(self, own: dict[str, Any], start: Start) -> dict[str, Any]:
        """Return flat capabilities for browsers, which get no report if they are in a block."""
        if start.request.type is not SessionType.BROWSER:
            return super().vendor_capabilities(own, start)
        return {f"digitalai:{name}": value for name, value in own.items()}

    def with_access_key(self, capabilities: dict[str, Any], key: str) -> dict[str, Any]:
        """Return the capabilities with the access key beside the vendor's others."""
        block = capabilities.get(self.block)
        if isinstance(block, Mapping):
            return {**capabilities, self.block: {**block, "accessKey": key}}
        return {**capabilities, "digitalai:accessKey": key}

    def storage_url(self, settings: Settings) -> str:
        """Return the organisation's cloud."""
        return self.api_url(settings, "") or _cloud(settings)

    def dashboard(self, record: SessionRecord, settings: Settings) -> str | None:  # noqa: ARG002 - the record has it
        """Return the report's URL, which is one of the session's capabilities."""
        return text(record.capabilities.get("digitalai:reportUrl") or record.capabilities.get("reportUrl"))

    def mark(self, record: SessionRecord, mark: TestStatus, settings: Settings) -> None:
        """Send a command in the session."""
        self.script(record, settings, "seetest:client.setReportStatus", mark.status.capitalize(), mark.reason or "")


def _cloud(settings: Settings) -> str:
    """Return the cloud's URL, with its scheme and without the hub's path.

    Raises:
        ProviderAuth: It is not set.
    """
    given = find_secret(_URL, settings.secrets_file)
    if given is None:
        raise ProviderAuth(
            f"Digital.ai needs the URL of your cloud, and {_URL} is not set.",
            hint=f'Set it in the environment of this server, or write {_URL} = "…" into {settings.secrets_file}.',
        )
    url = without_credentials(given if "://" in given else f"https://{given}")
    return url.rstrip("/").removesuffix(_HUB)


def _query(start: Start) -> str:
    """Return a device query for a start, with escaped quotes."""
    request = start.request
    wanted = {"os": request.type.value, "name": request.device_name, "version": request.platform_version}
    return " and ".join(
        "@{}='{}'".format(name, value.replace("'", "\\'")) for name, value in wanted.items() if value is not None
    )
