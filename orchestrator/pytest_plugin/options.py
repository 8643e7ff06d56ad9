"""Options of the plug-in, each on the command line and an ini key."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast, get_args

import pytest

Artifacts = Literal["on", "off", "retain-on-failure"]
BaselineMode = Literal["create", "update", "check"]
"""Without a baseline it is created, or the test fails (`check`, in CI); `update` rewrites those that differ, too."""
PREFIX = "orchestrator_"
WEB, IOS, ANDROID = PLATFORMS = ("web", "ios", "android")
"""The platforms by their names in tests."""

_GROUP = "webdriver-orchestrator"
_OUTPUT, _OUTPUT_BESIDE = "test-results", "orchestrator-results"
_OF_PLATFORM = "Parameters of every {} session, as name=value lines; values are JSON or text."


@dataclass(frozen=True)
class DeclaredOption:
    """An option `--orchestrator-NAME` and ini key `orchestrator_NAME`; a flag takes no value."""

    name: str
    help: str
    default: str = ""
    choices: tuple[str, ...] | None = None
    flag: bool = False


DECLARED = (
    DeclaredOption("provider", "Where sessions start: local, selenium_grid, browserstack, …; apps: appium.", "local"),
    DeclaredOption("headed", "Show the windows of browsers.", flag=True),
    DeclaredOption("device", "Device: emulated by browsers, the kind of phone of apps."),
    DeclaredOption("device-timeout", "How long a session waits in the queue for a phone that is free.", "5m"),
    DeclaredOption("grid-url", "URL of the Selenium Grid."),
    DeclaredOption("build", "The build that sessions of clouds belong to."),
    DeclaredOption(
        "artifacts",
        "Pictures, outlines, logs and timeline of each user.",
        "retain-on-failure",
        ("on", "off", "retain-on-failure"),
    ),
    DeclaredOption("hand-over", "Keep the sessions of failing tests as they are, for people and agents.", flag=True),
    DeclaredOption("hand-over-time", "How long they are kept after the run, such as 15m.", "15m"),
    DeclaredOption("output", f"Folder of the artifacts: {_OUTPUT}, beside pytest-playwright {_OUTPUT_BESIDE}."),
    DeclaredOption("update", "Rewrite the baselines that differ from what is shown.", flag=True),
    DeclaredOption("base-url", "URL that relative URLs belong to, where no other plug-in has a base_url."),
    DeclaredOption("slow-mo", "Milliseconds to wait after each call.", "0"),
)


@dataclass(frozen=True)
class PluginOptions:
    """The values of the options for a run.

    `device_timeout` and `hand_over`, which is 0 unless sessions are kept, are in seconds, `slow_mo` is in ms.
    """

    provider: str
    browser: str | None
    headed: bool
    device: str | None
    device_timeout: float
    grid_url: str | None
    build: str | None
    artifacts: Artifacts
    hand_over: float
    output: Path
    baselines: BaselineMode
    slow_mo: float
    platforms: dict[str, dict[str, Any]]


def add_options(parser: pytest.Parser) -> None:
    """Add the options and the ini keys; none has a name that another plug-in uses."""
    group = parser.getgroup(_GROUP)
    for option in DECLARED:
        names = {"dest": PREFIX + option.name.replace("-", "_"), "default": None, "help": option.help}
        if option.flag:
            group.addoption(f"--orchestrator-{option.name}", action="store_true", **names)
            parser.addini(str(names["dest"]), option.help, type="bool", default=False)
        else:
            group.addoption(f"--orchestrator-{option.name}", choices=option.choices, **names)
            parser.addini(str(names["dest"]), option.help, default=option.default)
    for platform in PLATFORMS:
        parser.addini(PREFIX + platform, _OF_PLATFORM.format(platform), type="linelist", default=[])


def read_options(config: pytest.Config) -> PluginOptions:
    """Read the options of a run.

    Raises:
        pytest.UsageError: An ini key has a value that its option refuses.
    """
    return PluginOptions(
        provider=str(_value(config, "provider")),
        browser=_browser_of_playwright(config),
        headed=bool(_value(config, "headed") or config.getoption("headed", default=False)),
        device=_value(config, "device") or None,
        device_timeout=_seconds(config, "device_timeout"),
        grid_url=_value(config, "grid_url") or None,
        build=_value(config, "build") or None,
        artifacts=_artifacts(config),
        hand_over=_seconds(config, "hand_over_time") if _value(config, "hand_over") else 0,
        output=config.rootpath / (_value(config, "output") or _default_output(config)),
        baselines=_baseline_mode(config),
        slow_mo=_number(config, "slow_mo"),
        platforms={name: parse_lines(config.getini(PREFIX + name)) for name in PLATFORMS},
    )


def read_base_url(config: pytest.Config) -> str:
    """Return the URL that relative URLs belong to, by our own option; empty if there is none."""
    return str(_value(config, "base_url"))


def parse_lines(lines: list[str]) -> dict[str, Any]:
    """Parse lines such as `headless=false`; a value that is not JSON is text.

    Raises:
        pytest.UsageError: A line has no `=`.
    """
    parsed: dict[str, Any] = {}
    for line in lines:
        name, equals, value = line.partition("=")
        if not equals:
            raise pytest.UsageError(f"{line!r} is no parameter of a session: write name=value.")
        try:
            parsed[name.strip()] = json.loads(value)
        except ValueError:
            parsed[name.strip()] = value.strip()
    return parsed


def _value(config: pytest.Config, name: str) -> Any:
    given = config.getoption(PREFIX + name)
    return config.getini(PREFIX + name) if given is None else given


def _artifacts(config: pytest.Config) -> Artifacts:
    given = str(_value(config, "artifacts"))
    if given in get_args(Artifacts):
        return cast("Artifacts", given)
    raise pytest.UsageError(f"orchestrator_artifacts is {given!r}: write on, off or retain-on-failure.")


def _default_output(config: pytest.Config) -> str:
    """Return the folder of the artifacts: not that of pytest-playwright, each process of which empties it."""
    theirs = config.getoption("output", default=None)
    return _OUTPUT_BESIDE if theirs and config.rootpath / theirs == config.rootpath / _OUTPUT else _OUTPUT


def _baseline_mode(config: pytest.Config) -> BaselineMode:
    if _value(config, "update"):
        return "update"
    return "check" if os.environ.get("CI") else "create"


def _number(config: pytest.Config, name: str) -> float:
    try:
        return float(_value(config, name))
    except ValueError:
        raise pytest.UsageError(f"{PREFIX}{name} is no number.") from None


def _seconds(config: pytest.Config, name: str) -> float:
    from orchestrator.models.durations import parse_duration

    try:
        return float(parse_duration(_value(config, name)))
    except ValueError as error:
        raise pytest.UsageError(f"{PREFIX}{name}: {error}.") from None


def _browser_of_playwright(config: pytest.Config) -> str | None:
    """Return the browser that pytest-playwright's `--browser` asks for, as we call it."""
    names = {"chromium": "chrome", "firefox": "firefox", "webkit": "webkitgtk"}
    given = config.getoption("browser", default=None)
    first = given[0] if isinstance(given, list) and given else None
    return names.get(str(first))
