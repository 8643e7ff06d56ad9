"""Digital.ai Testing, formerly Experitest: an organisation's own cloud of browsers and devices, by its URL.

Sources: https://docs.digital.ai/continuous-testing/docs/te/test-execution-home/ (capabilities, device queries, the
command `seetest:client.setReportStatus`), https://docs.digital.ai/continuous-testing/docs/pm/project-management/rest-api/
applications-rest-api (apps). Browsers take flat capabilities `digitalai:…`, devices the block `digitalai:options`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import Field

from orchestrator.errors import ProviderAuth
from orchestrator.mark import Mark
from orchestrator.models import SessionRecord, SessionType
from orchestrator.provider import Start, StoredApp
from orchestrator.secrets import secret, without_credentials
from orchestrator.settings import Settings
from orchestrator_providers.app_storage import AppStorage, text
from orchestrator_providers.cloud import Cloud
from orchestrator_providers.cloud_options import CloudOptions

_URL = "DIGITALAI_CLOUD_URL"
_HUB = "/wd/hub"


class DigitalAiOptions(CloudOptions):
    """The options of Digital.ai."""

    variables: ClassVar[str] = "DIGITALAI_ACCESS_KEY"

    test_name: str | None = Field(default=None, description="The report's name; the session's id here unless given.")
    os_name: str | None = Field(default=None, description="Browsers: the desktop's system, such as Windows 11.")
    device_query: str | None = Field(
        default=None, description="Devices: which one, such as @os='ios'; from deviceName and platformVersion."
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


def _app(told: Mapping[str, Any]) -> StoredApp:
    unique = text(told.get("uniqueName"))
    name = text(told.get("name") or told.get("bundleIdentifier") or told.get("packageName"))
    if unique is None and name is None:
        raise KeyError("name")
    return StoredApp(
        app=f"cloud:uniqueName={unique}" if unique else f"cloud:{name}",
        name=text(told.get("applicationName")) or name,
        version=text(told.get("releaseVersion") or told.get("version")),
        id=text(told.get("id")),
        custom_id=unique,
        uploaded_at=text(told.get("createdAt")),
    )


class DigitalAiProvider(Cloud):
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
        """That of the organisation's cloud."""
        return f"{_cloud(start.settings)}{_HUB}"

    def known(self, settings: Settings) -> tuple[str, ...]:
        """The organisation's cloud, and that of the setting."""
        given = secret(_URL, settings.secrets_file)
        return (*super().known(settings), *([f"{_cloud(settings)}{_HUB}"] if given else []))

    def own(self, start: Start, options: CloudOptions) -> dict[str, Any]:
        """A device is asked for by a query."""
        found = super().own(start, options)
        if start.request.type is not SessionType.BROWSER:
            found = {"deviceQuery": _query(start)} | found
        return found

    def placed(self, own: dict[str, Any], start: Start) -> dict[str, Any]:
        """Flat for browsers: a block gives them no report."""
        if start.request.type is not SessionType.BROWSER:
            return super().placed(own, start)
        return {f"digitalai:{name}": value for name, value in own.items()}

    def authorized(self, capabilities: dict[str, Any], key: str) -> dict[str, Any]:
        """The access key stands where the other capabilities of the vendor's do."""
        block = capabilities.get(self.block)
        if isinstance(block, Mapping):
            return {**capabilities, self.block: {**block, "accessKey": key}}
        return {**capabilities, "digitalai:accessKey": key}

    def storage_url(self, settings: Settings) -> str:
        """That of the organisation's cloud."""
        return self.api_url(settings, "") or _cloud(settings)

    def dashboard(self, record: SessionRecord, settings: Settings) -> str | None:  # noqa: ARG002 - it was answered
        """The report's address is one of the answered capabilities."""
        return text(record.capabilities.get("digitalai:reportUrl") or record.capabilities.get("reportUrl"))

    def mark(self, record: SessionRecord, mark: Mark, settings: Settings) -> None:
        """A command in the session."""
        self.script(record, settings, "seetest:client.setReportStatus", mark.status.capitalize(), mark.reason or "")


def _cloud(settings: Settings) -> str:
    """The cloud's URL, with its scheme and without the hub's path.

    Raises:
        ProviderAuth: It is not known.
    """
    given = secret(_URL, settings.secrets_file)
    if given is None:
        raise ProviderAuth(
            f"Digital.ai needs the URL of your cloud, and {_URL} is not set.",
            hint=f'Set it in the environment of this server, or write {_URL} = "…" into {settings.secrets_file}.',
        )
    url = without_credentials(given if "://" in given else f"https://{given}")
    return url.rstrip("/").removesuffix(_HUB)


def _query(start: Start) -> str:
    """A device query of what a start says; quotes in it are escaped."""
    request = start.request
    said = {"os": request.type.value, "name": request.device_name, "version": request.platform_version}
    return " and ".join(
        "@{}='{}'".format(name, value.replace("'", "\\'")) for name, value in said.items() if value is not None
    )
