"""What a start over MCP may not choose: programs, profiles, ports, extensions, weaker browsers."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from orchestrator import sync
from orchestrator.sessions.providers import Providers
from orchestrator.settings import Settings
from tests.e2e.doors.test_shell import shell
from tests.e2e.harness import NAMESPACE, Home
from tests.e2e.hostile_values import HOSTILE, Hostile
from tests.e2e.stage import refused
from tests.servers.answering import answering_server
from tests.servers.mcp import Answer, Served
from tests.servers.site import Site
from tests.waiting import until

pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def guarded(new_home: Callable[[], Home]) -> Iterator[tuple[Served, Home]]:
    """A server with the default settings, and its home."""
    home = new_home()
    with home.serve(tools="all") as server:
        yield server, home
    until(home.is_clean, "a clean home")


def as_call(server: Served, tool: str, arguments: dict[str, Any]) -> Answer:
    """Call the tool itself."""
    return server.call(tool, **arguments)


def as_step(server: Served, tool: str, arguments: dict[str, Any]) -> Answer:
    """Make it the only step of a sequence; a parameter named `action` is spelled `do` there."""
    fields = {"do" if name == "action" else name: value for name, value in arguments.items()}
    return server.call("execute_sequence", actions=[{"action": tool, **fields}])


def as_part(server: Served, tool: str, arguments: dict[str, Any]) -> Answer:
    """Make it the start of a sequence of a parallel call."""
    assert tool in STARTS
    return server.call("execute_parallel", sequences=[{"start": arguments, "actions": [{"action": "get_text"}]}])


FORMS = (as_call, as_step, as_part)
STARTS = ("start_browser", "start_session", "start_app_session")


@pytest.mark.parametrize(
    ("parameter", "form"),
    [
        pytest.param(parameter, form, id=f"{parameter}-{form.__name__}")
        for parameter in sorted(HOSTILE)
        for form in FORMS
        if form is not as_part or parameter.partition(".")[0] in STARTS
    ],
)
def test_a_hostile_value_is_refused_before_anything_is_started(
    guarded: tuple[Served, Home], parameter: str, form: Callable[..., Answer]
) -> None:
    """Each refusal names the argument, and, where it is `denied`, the setting and who may set it."""
    server, home = guarded
    tool, _, name = parameter.partition(".")
    wrong = [
        (case, answer.text)
        for case in HOSTILE[parameter]
        if not _is_refusal(case, answer := form(server, tool, {**case.others, name: case.value}))
    ]
    assert wrong == []
    assert home.records() == []


def _is_refusal(case: Hostile, answer: Answer) -> bool:
    is_told = case.code != "denied" or "Only whoever runs this server can allow it: the setting " in answer.text
    return answer.code == case.code and case.named in answer.text and is_told


def test_a_program_in_an_argument_runs_only_for_python_and_with_the_setting(
    guarded: tuple[Served, Home], home: Home
) -> None:
    """Over MCP nothing runs and the refusal names the setting; where the operator set it, and from Python, it runs."""
    text = refused(guarded[0].call("start_browser", args=[program(home, "mcp")]), "denied")
    assert "'--utility-cmd-prefix' is denied" in text
    assert "the setting unsafe_args (--unsafe-args of orchestrator serve)" in text
    assert marks(home) == set()
    with home.serve(unsafe_args="true") as server:
        server.ok("start_browser", args=[program(home, "setting")])
    with sync.Orchestrator(Settings(home=home.folder, namespace=NAMESPACE)) as orchestrator:
        orchestrator.start_browser("mine", args=[program(home, "python")])
    assert marks(home) == {"setting", "python"}


def program(home: Home, name: str) -> str:
    """Return a switch that makes Chromium run a program with each helper process; the program leaves a mark."""
    script = home.folder / f"{name}.sh"
    script.write_text(f'#!/bin/sh\ntouch "{home.folder / name}.mark"\nexec "$@"\n', "utf-8")
    script.chmod(0o700)
    return f"--utility-cmd-prefix={script}"


def marks(home: Home) -> set[str]:
    """Return the names of the programs that ran."""
    return {path.stem for path in home.folder.glob("*.mark")}


def test_a_person_at_the_shell_chooses_arguments_freely(lasting: Home) -> None:
    """The command line is the person's own: nothing is denied there."""
    started = shell(lasting, "start", "-s", "mine", "--args=--disable-site-isolation-trials")
    assert (started.returncode, started.stderr) == (0, "")
    assert "--disable-site-isolation-trials" in lasting.process("mine", "chrome").cmdline()
    assert shell(lasting, "close", "mine").returncode == 0


def test_the_working_folder_sets_neither_unsafe_arguments_nor_folders_of_extensions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cloned repository must not choose what may run; the file in the data folder may."""
    home, folder = tmp_path / "home", tmp_path / "folder"
    for place in (home, folder):
        place.mkdir()
    (folder / "orchestrator.toml").write_text('unsafe_args = true\nextensions = ["/"]\n', "utf-8")
    monkeypatch.chdir(folder)
    settings = Settings.load({"home": home})
    assert (settings.unsafe_args, settings.extensions) == (False, [])
    (home / "orchestrator.toml").write_text(f'unsafe_args = true\nextensions = ["{tmp_path}"]\n', "utf-8")
    settings = Settings.load({"home": home})
    assert (settings.unsafe_args, settings.extensions) == (True, [tmp_path])


HARMLESS = [
    *(
        "--window-size=800,600",
        "--lang=de",
        "--mute-audio",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "start-maximized",
    ),
    *("--incognito", "--disable-notifications", "--force-dark-mode", "--force-device-scale-factor=2"),
    *("--proxy-server=http://127.0.0.1:1", "--proxy-bypass-list=*", "--autoplay-policy=no-user-gesture-required"),
    *(
        "--use-fake-device-for-media-stream",
        "--use-fake-ui-for-media-stream",
    ),
    *(
        "--disable-blink-features=AutomationControlled",
        "--blink-settings=imagesEnabled=false",
        "--js-flags=--expose-gc",
    ),
    *("--disable-extensions", "--disable-infobars", "--no-first-run", "--log-level=3", "--user-agent=tester"),
]
"""Switches that testers paste everywhere."""
FEATURES = "--disable-features=Translate,MediaRouter"
"""The browser joins these with those of others."""


def test_harmless_switches_and_preferences_reach_the_browser(guarded: tuple[Served, Home], site: Site) -> None:
    """All of them arrive as they were given, and the page sees their effect."""
    server, home = guarded
    options = {
        "args": ["--hide-scrollbars"],
        "prefs": {
            "intl.accept_languages": "fr",
            "profile": {"default_content_setting_values": {"notifications": 2}, "password_manager_enabled": False},
        },
        "excludeSwitches": ["enable-automation", "enable-logging"],
        "useAutomationExtension": False,
    }
    capabilities = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}, "sauce:options": {"a": 1}}
    row = server.ok("start_browser", sessionId="a", args=[*HARMLESS, FEATURES], capabilities=capabilities)
    assert not [text for text in row.get("warnings", []) if "left out" in text]
    running = home.process("a", "chrome").cmdline()
    missing = [one for one in HARMLESS if f"--{one.lstrip('-')}" not in running]
    assert missing == []
    assert any(one.startswith("--disable-features=") and "Translate,MediaRouter" in one for one in running)
    server.ok("navigate", url=site.page("/", "<p>x"))
    script = "return [navigator.userAgent, navigator.language]"
    assert server.ok("execute_script", script=script)["value"] == ["tester", "fr"]
    server.ok("close_session", sessionId="a")


def test_a_switch_that_weakens_the_sandbox_is_left_out_with_a_warning(guarded: tuple[Served, Home]) -> None:
    """The start goes on, as testers paste it everywhere, and the warning names the setting that decides it."""
    server, home = guarded
    pasted = ["--no-sandbox", "--disable-setuid-sandbox", "--no-zygote", "--remote-allow-origins=*"]
    options = {"goog:chromeOptions": {"args": pasted}}
    warnings = server.ok("start_browser", sessionId="a", args=pasted, capabilities=options)["warnings"]
    sandbox = "was left out: this server decides whether the browser can have its sandbox."
    assert warnings[:3] == [f"{switch} {sandbox}" for switch in pasted[:3]]
    assert warnings[3] == "--remote-allow-origins was left out: the driver needs no permission of the browser."
    running = home.process("a", "chrome").cmdline()
    assert not {*pasted[1:]} & {*running}
    server.ok("close_session", sessionId="a")


def test_extensions_load_from_the_folders_of_the_setting_and_from_nowhere_else(home: Home, site: Site) -> None:
    """What lies elsewhere is denied, also behind a link or dots in a folder that is allowed."""
    allowed, other = home.folder / "extensions", home.folder / "other"
    inside, outside = unpacked(allowed / "one"), unpacked(other / "two")
    (allowed / "link").symlink_to(outside)
    feature = "--disable-features=DisableLoadExtensionCommandLineSwitch"
    with home.serve(extensions=str(allowed)) as server:
        for path in (outside, allowed / "link", allowed / ".." / "other" / "two", f"{inside},{outside}"):
            text = refused(server.call("start_browser", args=[f"--load-extension={path}", feature]), "denied")
            assert "the setting extensions (--extensions of orchestrator serve)" in text
        page = site.page("/", "<p>x")
        server.ok("start_browser", navigationUrl=page, args=[f"--load-extension={inside}", feature])
        assert server.ok("execute_script", script="return document.documentElement.dataset.by")["value"] == "one"


def unpacked(folder: Path) -> Path:
    """Make an unpacked extension that signs every page with its name."""
    folder.mkdir(parents=True)
    matches = [{"matches": ["<all_urls>"], "js": ["sign.js"]}]
    manifest = {"manifest_version": 3, "name": folder.name, "version": "1", "content_scripts": matches}
    (folder / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    (folder / "sign.js").write_text(f"document.documentElement.dataset.by = '{folder.name}'", "utf-8")
    return folder


def test_browsers_that_run_elsewhere_take_any_capability(new_home: Callable[[], Home]) -> None:
    """A cloud's browsers and those of a Grid on another machine choose programs there, by the rules of that place.

    Grids and endpoints on this machine, under whatever name, are not elsewhere.
    """
    providers, settings = Providers(), Settings(home=new_home().folder)
    for name in ("browserstack", "sauce_labs", "testmu", "testingbot", "digitalai"):
        assert providers[name].runs_elsewhere(providers.options(name, {}), settings)
    for name in ("selenium_grid", "remote_url"):
        for host, is_elsewhere in (
            *(("192.0.2.1", True), ("[2001:db8::1]", True), ("127.0.0.1", False), ("127.1", False), ("[::1]", False)),
            *(("0x7f000001", False), ("localhost", False), ("0.0.0.0", False), ("[::ffff:127.0.0.1]", False)),  # noqa: S104
            (socket.gethostname(), False),
        ):
            options = providers.options(name, {"url": f"http://{host}:4444"})
            assert providers[name].runs_elsewhere(options, settings) is is_elsewhere, host
    for name in ("local", "appium"):
        assert not providers[name].runs_elsewhere(providers.options(name, {}), settings)


def test_a_clouds_hub_gets_capabilities_that_are_denied_here(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """The request reaches the hub unchanged, with a switch that a local start may not have."""
    monkeypatch.setenv("SAUCE_USERNAME", "user")
    monkeypatch.setenv("SAUCE_ACCESS_KEY", "key")
    wanted = {"goog:chromeOptions": {"args": ["--no-sandbox", "--disable-web-security"], "binary": "/opt/chrome"}}
    with answering_server() as hub, home.serve(clouds=json.dumps({"sauce_labs": {"hub_url": hub.url}})) as server:
        hub.status, hub.body = 500, b'{"value": {"error": "session not created", "message": "full"}}'
        start = {"provider": "sauce_labs", "platform": "browser", "capabilities": wanted}
        refused(server.call("start_session", **start), "start_failed")
        asked = next(json.loads(body) for method, path, body in hub.requests if (method, path) == ("POST", "/session"))
        options = asked["capabilities"]["alwaysMatch"]["goog:chromeOptions"]
    assert options["binary"] == "/opt/chrome"
    assert options["args"][-2:] == ["--no-sandbox", "--disable-web-security"]


def test_a_script_starts_no_session(guarded: tuple[Served, Home]) -> None:
    """Scripts call actions in their session alone: there is no way to a start, nor to its arguments."""
    server, home = guarded
    server.ok("start_browser", sessionId="a")
    for name in ("context.startBrowser", "page.startBrowser", "context.executeSequence"):
        script = f"{name}({{args: ['--utility-cmd-prefix=x']}})"
        text = refused(server.call("run_script", script=script), "invalid_argument")
        assert f"has no {name.partition('.')[2]}" in text
    assert [record.id for record in home.records()] == ["a"]
    server.ok("close_session", sessionId="a")


def test_a_fork_and_a_restart_keep_the_arguments_that_a_person_chose(lasting: Home, site: Site) -> None:
    """What a Python program started with arguments of its own can be forked over MCP: the model chose none of them."""
    mine = ["--disable-site-isolation-trials"]
    settings = Settings(home=lasting.folder, namespace=NAMESPACE)
    with sync.Orchestrator(settings) as orchestrator, lasting.serve() as server:
        orchestrator.start_browser("mine", args=mine, navigation_url=site.page("/", "<p>x"))
        server.ok("fork_session", sessionId="mine", **{"as": "fork"})
        assert mine[0] in lasting.process("fork", "chrome").cmdline()
