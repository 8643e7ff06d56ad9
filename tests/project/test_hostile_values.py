"""Which parameters could reach this machine, by their declarations: each has hostile values, and those are refused."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from typing import Any

import pytest
from appium.options.android import EspressoOptions, UiAutomator2Options
from appium.options.flutter_integration import FlutterOptions
from appium.options.ios import XCUITestOptions

from orchestrator.lifecycle.boundary.capabilities import APPIUM_NAMES
from orchestrator.mcp_server.tools import TOOLS
from orchestrator.models.arguments import names_of
from orchestrator.provider import SessionOptions
from orchestrator.sessions.providers import Providers
from tests.e2e.hostile_values import HOSTILE

KINDS = {
    "browser argument": re.compile(r"args|switches|flags"),
    "capability": re.compile(r"capabilities|.*[cC]aps"),
    "header": re.compile(r".*headers?"),
    "provider's option": re.compile(r"options"),
}
"""Names of parameters of each kind that needs hostile values."""

HARMLESS = {
    "execute_script.args": "values for the caller's own script in the page",
    "start_browser.options": "no option of the provider local stands for a program, as the next test holds",
}
"""Parameters with such a name that cannot reach this machine, and why."""


def parameters() -> Iterator[str]:
    """Yield each parameter of a kind above, as `tool.parameter`."""
    for tool in TOOLS.values():
        for name in names_of(tool.declared):
            if any(kind.fullmatch(name) for kind in KINDS.values()):
                yield f"{tool.name}.{name}"


def test_each_parameter_that_could_reach_this_machine_has_hostile_values() -> None:
    """A new parameter of such a kind fails here until its hostile values stand in tests/e2e/hostile_values.py."""
    found = {*parameters()}
    assert {"start_browser.args", "start_session.capabilities", "route.headers", "start_app_session.options"} <= found
    assert sorted(found - {*HOSTILE} - {*HARMLESS}) == []
    assert sorted(name for name in {*HOSTILE, *HARMLESS} if name not in found) == []
    assert [name for name, cases in HOSTILE.items() if not cases] == []


SUSPECT = re.compile(
    r".*(executable|path|folder|dir|args|env|prerun|postrun|program|binary|port)(_dir|_path)?|.*arguments"
)
"""Names of options that may stand for programs, for what is handed to them, for folders or ports."""
ELSEWHERE = {"browserstack", "digitalai", "sauce_labs", "testingbot", "testmu"}
"""Clouds: their options choose what runs at the vendor's."""
PLAIN = {
    "system_port", "chromedriver_port", "wda_local_port", "mjpeg_server_port",
    "optional_intent_arguments",
}  # fmt: skip
"""Ports that are chosen by themselves unless given and open nothing more, and arguments for the device alone."""


@pytest.mark.parametrize("provider", sorted({*Providers()} - ELSEWHERE))
def test_an_option_that_stands_for_a_program_is_bound_like_its_capability(provider: str) -> None:
    """Options whose names speak of programs, folders or environments are capabilities to the boundary."""
    model = Providers()[provider].Options
    suspects = [name for name in model.model_fields if SUSPECT.fullmatch(name) and name not in PLAIN]
    unbound = [name for name in suspects if not _stands_for_a_capability(model, name)]
    assert unbound == []
    if provider == "appium":
        assert {"chromedriver_executable", "derived_data_path", "process_arguments"} <= {*suspects}


def _stands_for_a_capability(model: type[SessionOptions], name: str) -> bool:
    values: dict[str, Any] = {name: "x"}
    capabilities = model.model_construct(**values).as_capabilities()
    return [*capabilities] == [f"appium:{model.model_fields[name].alias}"]


CLIENT_OPTIONS = "appium.options"
DECIDED = {
    *("adbPort", "avdArgs", "avdEnv", "buildToolsVersion", "chromedriverArgs", "chromedriverChromeMappingFile"),
    *("chromedriverExecutable", "chromedriverExecutableDir", "customSSLCert", "derivedDataPath", "espressoBuildConfig"),
    *("iosSimulatorLogsPredicate", "keychainPassword", "keychainPath", "keychainsExcludePatterns", "keystorePath"),
    *("localizableStringsDir", "mjpegScreenshotUrl", "prebuiltWDAPath", "remoteAdbHost", "resultBundlePath"),
    *("safariInitialUrl", "simulatorDevicesSetPath", "useXctestrunFile", "wdaBaseUrl"),
}
"""Capabilities of Appium's client that are denied over MCP on purpose."""
BY_VALUE = frozenset(
    ["avd", "browserName", "chromeOptions", "processArguments", "updatedWDABundleId", "xcodeOrgId", "xcodeSigningId"]
)
"""Capabilities whose values decide."""


def test_each_capability_of_appiums_client_is_allowed_or_denied_on_purpose() -> None:
    """A release of the client with a new capability fails here until someone has thought about it."""
    known = {*_capabilities_of_the_client()}
    assert {"chromedriverExecutable", "systemPort", "bundleId"} <= known
    assert sorted(known - APPIUM_NAMES - DECIDED - BY_VALUE) == []
    assert sorted(DECIDED & APPIUM_NAMES) == []


def _capabilities_of_the_client() -> Iterator[str]:
    for options in (UiAutomator2Options, EspressoOptions, XCUITestOptions, FlutterOptions):
        for base in options.__mro__:
            module = importlib.import_module(base.__module__)
            yield from (
                value
                for name, value in vars(module).items()
                if name.isupper()
                and isinstance(value, str)
                and base.__module__.startswith(CLIENT_OPTIONS)
                and value.isalnum()
            )
