"""Every cloud, on every platform it serves: requests to its hub and REST API, with a real session behind the hub."""

from __future__ import annotations

import functools
import itertools
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import psutil
import pytest

from orchestrator import Orchestrator
from orchestrator.demo.device_server import DeviceServer
from orchestrator.errors import StartFailed
from orchestrator.sessions import progress
from orchestrator.settings import Settings
from tests.e2e.harness import NAMESPACE, Home, runs
from tests.e2e.providers.cloud_cases import (
    ACCOUNTS,
    BUILDS,
    CASES,
    OPEN,
    PHONES,
    PLACES,
    PROVIDERS,
    REASON,
    SESSION,
    SHARED,
    STORAGES,
    TUNNEL,
    VARIABLES,
    Case,
    Storage,
)
from tests.e2e.stage import refused
from tests.servers.cloud import CloudHub, RestEnd, proxy_end, rest_end, tunnel, tunnel_ran
from tests.servers.grid import GridEnd, grid_end
from tests.servers.mcp import Served, served
from tests.servers.webdriver import PASSWORD, USER, relayed
from tests.waiting import until

pytestmark = pytest.mark.full


class Clouds(NamedTuple):
    """A server whose clouds are all at one Grid and one REST API.

    `door` requires the account; `other` is for the vendor that takes the access key as a capability.
    """

    server: Served
    door: CloudHub
    other: CloudHub
    rest: RestEnd
    grid: GridEnd
    home: Home
    settings: Mapping[str, str]
    log: Path

    def hub(self, provider: str) -> CloudHub:
        """Return the hub of a provider."""
        return self.other if provider in OPEN else self.door


@pytest.fixture(scope="module")
def end(device_server: DeviceServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clouds]:
    """A server, a Grid and the hubs for all clouds."""
    home = Home(tmp_path_factory.mktemp("clouds"))
    with ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        grid = stack.enter_context(grid_end(1, 1, appium=device_server.url))
        rest = stack.enter_context(rest_end())
        door = stack.enter_context(relayed(grid.port, CloudHub(), guarded=True))
        other = stack.enter_context(relayed(grid.port, CloudHub()))
        for name, value in {**ACCOUNTS, **BUILDS}.items():
            patch.setenv(name, value)
        places = {name: {"hub_url": door.url, "api_url": rest.url} for name in PROVIDERS}
        for name in PROVIDERS[1:]:
            places[name]["tunnel"] = str(tunnel(home.folder / name))
        places |= {name: {"hub_url": other.url, "api_url": rest.url} for name in OPEN}
        settings = {"clouds": json.dumps(places), "start_timeout": "60"}
        log = tmp_path_factory.mktemp("log") / "log"
        told = stack.enter_context(log.open("w"))
        own = {"home": str(home.folder), "namespace": NAMESPACE, **settings}
        server = stack.enter_context(served("auto", (), told, **own))
        yield Clouds(server, door, other, rest, grid, home, settings, log)
    until(home.is_clean, "a clean home")


@pytest.fixture
def clouds(end: Clouds) -> Iterator[Clouds]:
    """The same server and hubs, without recorded requests and open sessions."""
    end.door.requests.clear()
    end.other.requests.clear()
    end.rest.requests.clear()
    end.rest.answers.clear()
    yield end
    end.server.ok("close_sessions", all=True)
    assert end.grid.sessions() == []


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_a_cloud_session_is_requested_driven_marked_and_ended(clouds: Clouds, case: Case) -> None:
    """The hub gets exactly these capabilities and the API exactly these requests; a real session answers meanwhile."""
    hub = clouds.hub(case.provider)
    clouds.rest.answers.update(case.rest)
    device = {"deviceName": PHONES[case.platform]} if case.platform in PHONES else {}
    wish = {"provider": case.provider, "platform": case.platform, "sessionId": "mine", **device, **case.start}
    answer = clouds.server.call("start_session", **wish)
    assert not answer.failed, answer.text
    row = answer.data
    session = row["remoteSessionId"]
    ran = tunnel_ran(clouds.home.folder / case.provider) if case.tunnelled else {}
    assert hub.asked() == SHARED[case.platform] | _with_tunnel(case.asked, ran)
    assert (row["provider"], row["type"]) == (case.provider, case.platform)
    assert row.get("remoteEnd", {}).get("dashboardUrl", "") == case.dashboard.replace("<id>", session)
    assert clouds.home.record("mine").keep_alive == case.keep_alive
    assert PASSWORD not in answer.text + json.dumps(row) + clouds.home.record("mine").model_dump_json()
    clouds.server.ok("get_visible_elements")
    beside = [psutil.Process(ran["pid"])] if ran else []
    assert all(runs(one) for one in beside)
    assert clouds.server.ok("close_session", status="failed", reason=REASON)["closed"] == ["mine"]
    told = [(one.method, one.path.replace(session, "<id>"), one.value) for one in clouds.rest.requests if one.body]
    assert [*told, *hub.scripts()] == case.marked
    assert not any(runs(one) for one in beside)


def _with_tunnel(asked: dict[str, Any], ran: dict[str, Any]) -> dict[str, Any]:
    """Return the expected capabilities with the tunnel's name, after checks of how the tunnel was started."""
    if not ran:
        return asked
    flags = dict(itertools.pairwise(ran["argv"]))
    [name] = [flags[flag] for flag in ("--tunnel-name", "--tunnelName", "--tunnel-identifier") if flag in flags]
    assert re.fullmatch(r"orchestrator-[0-9a-f]{12}", name)
    assert PASSWORD not in " ".join(ran["argv"])
    variables = ("SAUCE_ACCESS_KEY", "TESTINGBOT_SECRET")
    if ran["config"]:
        assert (ran["config"], ran["mode"]) == (f'User: "{USER}"\nKey: "{PASSWORD}"\n', "600")
        assert not Path(ran["file"]).exists()
    assert ran["config"] or PASSWORD in {ran["env"].get(variable) for variable in variables}
    found: dict[str, Any] = json.loads(json.dumps(asked).replace(TUNNEL, name))
    return found


def _starts(clouds: Clouds) -> tuple[int, int, int]:
    """Return the number of sessions requested at each hub so far, and of REST requests."""
    asked = [[one for one in end.requests if one[1].endswith("/session")] for end in (clouds.door, clouds.other)]
    return len(asked[0]), len(asked[1]), len(clouds.rest.requests)


def test_cloud_credentials_come_from_each_servers_environment_or_secrets_file(
    clouds: Clouds, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server without credentials sends nothing and names them; with a secrets file a session continues."""
    clouds.server.ok("start_session", provider="browserstack", platform="browser", sessionId="mine")
    for name in ACCOUNTS:
        monkeypatch.delenv(name)
    file = clouds.home.folder / "secrets.toml"
    with clouds.home.serve(**clouds.settings) as other:
        sent = _starts(clouds)
        for provider, variables in VARIABLES.items():
            for call in (
                other.call("start_session", provider=provider, platform="browser", sessionId="another"),
                other.call("list_apps", provider=provider),
            ):
                said = refused(call, "provider_auth")
                assert f"needs credentials, and {variables}." in said
                assert str(file) in said
        assert "BROWSERSTACK_USERNAME and BROWSERSTACK_ACCESS_KEY are not set" in refused(
            other.call("get_text", sessionId="mine"), "provider_auth"
        )
        assert sent == _starts(clouds)
        _write(file, BROWSERSTACK_USERNAME=USER, BROWSERSTACK_ACCESS_KEY="wrong-key")
        wrong = other.call("start_session", provider="browserstack", platform="browser", sessionId="another")
        assert "Check BROWSERSTACK_USERNAME and BROWSERSTACK_ACCESS_KEY." in refused(wrong, "provider_auth")
        said = refused(other.call("list_apps", provider="browserstack"), "provider_auth")
        assert "401: who is Basic •••?" in said
        assert "Check BROWSERSTACK_USERNAME and BROWSERSTACK_ACCESS_KEY." in said
        _write(file, BROWSERSTACK_USERNAME=USER, BROWSERSTACK_ACCESS_KEY=PASSWORD)
        assert other.ok("execute_script", script="return 6 * 7", sessionId="mine")["value"] == 42
        clouds.rest.answers["PUT", "/automate/sessions/"] = 500, {"error": f"not for {PASSWORD}"}
        closed = other.ok("close_session", sessionId="mine", status="passed")
    assert closed["closed"] == ["mine"]
    [warning] = closed["warnings"]
    assert warning.startswith("mine is not marked as passed. BrowserStack answered PUT ")
    assert warning.endswith(" with 500: not for •••.")
    file.unlink()


def _write(file: Path, **values: str) -> None:
    file.write_text("".join(f'{name} = "{value}"\n' for name, value in values.items()), "utf-8")
    file.chmod(0o600)


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ({"capabilities": {"bstack:options": {"accessKey": "x"}}}, "The capability 'accessKey' is not allowed"),
        ({"options": {"userName": "x"}}, "'userName' is no option"),
    ],
    ids=["capabilities", "options"],
)
def test_cloud_credentials_in_a_call_are_refused(clouds: Clouds, where: dict[str, Any], expected: str) -> None:
    """Credentials among capabilities or options are refused, and the error names the variables instead."""
    answer = clouds.server.call("start_session", provider="browserstack", platform="browser", **where)
    text = refused(answer, "invalid_argument")
    assert expected in text
    assert "BROWSERSTACK_USERNAME and BROWSERSTACK_ACCESS_KEY" in text
    assert clouds.door.requests == []


@pytest.mark.parametrize("storage", STORAGES, ids=[storage.provider for storage in STORAGES])
def test_apps_are_uploaded_to_a_clouds_storage_and_listed(clouds: Clouds, storage: Storage, tmp_path: Path) -> None:
    """The requests are the vendor's, and the answer has the `app` for a start."""
    file = tmp_path / "shop.apk"
    file.write_text("the app", "utf-8")
    clouds.rest.answers.update({(method, path): (200, answer) for method, path, answer in storage.upload})
    named = {"customId": storage.custom_id} if storage.custom_id else {}
    stored = clouds.server.ok("upload_app", provider=storage.provider, path=str(file), **named)
    assert stored == storage.stored
    account = "bearer" if storage.provider in OPEN else "basic"
    assert clouds.rest.summary() == [(method, path, account) for method, path, _ in storage.upload]
    assert clouds.rest.requests[0].form == storage.form
    if not named:
        answer = clouds.server.call("upload_app", provider=storage.provider, path=str(file), customId="Shop")
        assert "has no custom ids for apps. Omit customId." in refused(answer, "unsupported")
    clouds.rest.requests.clear()
    clouds.rest.answers.clear()
    clouds.rest.answers.update({(method, path): (200, answer) for method, path, answer in storage.list})
    apps = clouds.server.ok("list_apps", provider=storage.provider, limit=2)["apps"]
    assert apps[0] == storage.first
    assert len(apps) <= 2
    assert clouds.rest.summary() == [(method, path, account) for method, path, _ in storage.list]


def _upload_200_mb(clouds: Clouds, tmp_path: Path) -> int:
    """Upload an app of 200 MB; return by how many kB the server's highest memory use grew."""
    file = tmp_path / "big.apk"
    with file.open("wb") as opened:
        opened.truncate(200_000_000)
    clouds.rest.answers["POST", "/app-automate/upload"] = 200, {"app_url": "bs://big"}
    before = _most_memory(clouds.server)
    assert clouds.server.ok("upload_app", provider="browserstack", path=str(file))["app"] == "bs://big"
    return _most_memory(clouds.server) - before


def test_a_big_app_is_uploaded_with_its_length_at_the_start(clouds: Clouds, tmp_path: Path) -> None:
    """Tells the vendor how long the request will be, which is hardly longer than the app."""
    _upload_200_mb(clouds, tmp_path)
    assert 200_000_000 < clouds.rest.requests[0].length < 200_001_000


@pytest.mark.clock
def test_an_app_upload_is_streamed_and_never_in_memory_as_a_whole(clouds: Clouds, tmp_path: Path) -> None:
    """Reads and sends the app in pieces."""
    assert _upload_200_mb(clouds, tmp_path) < 50_000


def _most_memory(server: Served) -> int:
    """Return the server's highest memory use, in kB."""
    status = Path(f"/proc/{server.process.pid}/status").read_text("utf-8")
    return int(re.findall(r"VmHWM:\s+(\d+)", status)[0])


async def test_an_app_upload_reports_its_progress(clouds: Clouds, tmp_path: Path) -> None:
    """Callers of the Python API receive progress messages during an upload."""
    file = tmp_path / "shop.apk"
    file.write_bytes(b"x" * 400_000)
    clouds.rest.answers["POST", "/v1/storage"] = 200, {"app_url": "tb://k1"}
    heard: list[str] = []
    settings = Settings.load({"home": tmp_path / "home", "namespace": "python", "clouds": clouds.settings["clouds"]})
    with progress.listen_to_progress(heard.append):
        async with Orchestrator(settings) as orchestrator:
            assert (await orchestrator.upload_app("testingbot", str(file))).app == "tb://k1"
    assert heard == ["sent 0.3 MB of 0.4 MB", "sent 0.4 MB of 0.4 MB"]


def test_a_failed_app_upload_says_why(clouds: Clouds, tmp_path: Path) -> None:
    """The error names a missing file, the vendor's answer, or a provider without a storage."""
    file = tmp_path / "shop.apk"
    file.write_text("the app", "utf-8")
    call = functools.partial(clouds.server.call, "upload_app")
    missing = refused(call(provider="testmu", path=str(tmp_path / "shop.ap")), "invalid_argument")
    assert f"path: there is no file {tmp_path / 'shop.ap'}. Did you mean {file}?" in missing
    assert f"path: {tmp_path} is a folder." in refused(call(provider="testmu", path=str(tmp_path)), "invalid_argument")
    clouds.rest.answers["POST", "/app/upload/realDevice"] = 422, {"error": {"message": "no app at all"}}
    said = refused(call(provider="testmu", path=str(file)), "provider_error")
    assert (
        said == f"provider_error: TestMu answered POST {clouds.rest.url}/app/upload/realDevice with 422: no app at all."
    )
    clouds.rest.answers["POST", "/app/upload/realDevice"] = 200, {"status": "queued"}
    assert "The answer of TestMu is no app." in refused(call(provider="testmu", path=str(file)), "provider_error")
    names = "browserstack, digitalai, sauce_labs, testingbot, testmu"
    unsupported = refused(call(provider="local", path=str(file)), "unsupported")
    assert f"Provider 'local' has no storage for apps. Providers with one: {names}." in unsupported


def test_cloud_requests_go_to_the_vendors_own_hosts_by_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hubs, regions and APIs as documented, each by https, and through the proxy that the environment names."""
    for name in ("no_proxy", "NO_PROXY", "SAUCE_REGION"):
        monkeypatch.delenv(name, raising=False)
    with proxy_end() as (proxy, asked):
        for name, value in {**ACCOUNTS, "DIGITALAI_CLOUD_URL": "acme.cloud.example/", "https_proxy": proxy}.items():
            monkeypatch.setenv(name, value)
        with Home(tmp_path).serve() as server:
            for provider, start, host in PLACES:
                asked.clear()
                if start is None:
                    answer = server.call("list_apps", provider=provider)
                    assert f"https://{host}/" in refused(answer, "provider_error")
                else:
                    refused(server.call("start_session", provider=provider, **start), "start_failed")
                assert set(asked) == {f"{host}:443"}


async def test_no_cloud_session_is_started_when_its_tunnel_fails(clouds: Clouds, tmp_path: Path) -> None:
    """The error reports the missing program of the tunnel, or why it ended, without the access key."""
    program = tmp_path / "sc"
    place = json.loads(clouds.settings["clouds"])["sauce_labs"] | {"tunnel": str(program)}
    given = {"home": tmp_path / "home", "namespace": "python", "clouds": {"sauce_labs": place}}
    async with Orchestrator(Settings.load(given)) as orchestrator:
        start = functools.partial(orchestrator.start_session, "sauce_labs", "browser", options={"startTunnel": True})
        with pytest.raises(StartFailed, match=f"The tunnel's program {program} is not on this machine"):
            await start()
        program.write_text('#!/bin/sh\necho "no tunnel for $SAUCE_ACCESS_KEY"\nexit 1\n', "utf-8")
        program.chmod(0o755)
        with pytest.raises(StartFailed, match="The tunnel sc ended at once: no tunnel for •••"):
            await start()
    assert clouds.door.requests == []


def test_a_cloud_session_is_attached_with_the_credentials_of_the_environment(clouds: Clouds) -> None:
    """The hub's URL identifies the vendor and needs no credentials; closing only detaches."""
    clouds.rest.answers["GET", "/automate/sessions/"] = 200, SESSION
    session = clouds.grid.start()
    wish = {"remoteUrl": clouds.door.url, "remoteSessionId": session, "sessionId": "theirs"}
    row = clouds.server.ok("attach_session", **wish)
    assert (row["provider"], row["owned"], row["capabilities"]["browserName"]) == ("browserstack", False, "chrome")
    assert row["remoteEnd"] == {"dashboardUrl": SESSION["automation_session"]["browser_url"]}
    clouds.server.ok("get_visible_elements", sessionId="theirs")
    told = clouds.server.ok("close_session", sessionId="theirs")
    assert (told["closed"], clouds.grid.sessions()) == (["theirs"], [session])
    clouds.grid.ask("DELETE", session)


def test_no_cloud_credential_is_in_the_home_or_in_the_log(clouds: Clouds) -> None:
    """Neither a file of the home nor the log has the access key, even after failed starts."""
    files = [path for path in clouds.home.folder.rglob("*") if path.is_file() and path.suffix != ".json"]
    assert [path for path in [*files, clouds.log] if PASSWORD.encode() in path.read_bytes()] == []
    assert clouds.log.read_text("utf-8")
