"""Settings: arguments, then the environment, then the two files, then the default."""

from __future__ import annotations

import math
import os
import sys
from pathlib import Path

import pytest

from orchestrator.errors import InvalidArgument
from orchestrator.models.durations import parse_duration
from orchestrator.settings import (
    DOWNWARDS,
    HARMLESS,
    STRICTER,
    CloudSettings,
    Settings,
    ignored_in_project,
    project_namespace,
    unknown_variables,
)


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder and a data folder of the test's own, and no setting in the environment."""
    for name in [name for name in os.environ if name.startswith("ORCHESTRATOR_")]:
        monkeypatch.delenv(name)
    (tmp_path / "work").mkdir()
    (tmp_path / "home").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("ORCHESTRATOR_HOME", str(tmp_path / "home"))
    return tmp_path


def test_settings_have_their_documented_defaults() -> None:  # W45 B13 B34 B35 F34 W48
    """Without any source: the values that TOOLS.md lists; half an hour idle, five minutes parked, no age limit."""
    settings = Settings.load()
    assert (settings.idle_timeout, settings.park_ttl) == (1800, 300)
    assert (settings.max_duration, settings.on_max_duration) == (None, "close")
    assert (settings.headless, settings.lazy_start, settings.session_warning) == (True, True, 5)
    assert (settings.max_sessions, settings.max_output) == (None, 20_000)
    assert (settings.command_timeout, settings.start_timeout) == (30, 120)


def test_the_nearest_source_of_a_setting_wins(folders: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Arguments win over the environment, then the working folder's file, the data folder's, the default."""
    (folders / "home" / "orchestrator.toml").write_text("max_output = 2\nsession_warning = 1\nmax_sessions = 1")
    assert Settings.load().max_output == 2
    (folders / "work" / "orchestrator.toml").write_text("max_output = 1\nsession_warning = 2")
    assert Settings.load().max_output == 1
    monkeypatch.setenv("ORCHESTRATOR_MAX_OUTPUT", "3")
    assert Settings.load().max_output == 3
    assert Settings.load({"max_output": "4"}).max_output == 4
    assert (Settings.load().session_warning, Settings.load().max_sessions) == (2, 1)


@pytest.mark.parametrize(("name", "value"), [("home", "/elsewhere"), ("chrome_binary", "/x"), ("chromedriver", "/x")])
def test_a_cloned_repository_chooses_neither_programs_nor_folders(folders: Path, name: str, value: str) -> None:
    """Executables and the data folder are not taken from the working folder's file, but from the other one."""
    (folders / "work" / "orchestrator.toml").write_text(f'{name} = "{value}"')
    assert str(getattr(Settings.load(), name)) != value
    if name != "home":
        (folders / "home" / "orchestrator.toml").write_text(f'{name} = "{value}"')
        assert getattr(Settings.load(), name) == Path(value)


def test_a_cloned_repository_changes_nothing_but_what_cannot_harm(folders: Path) -> None:
    """From its file come harmless settings, lower limits and stricter safety; the rest is named, and has no effect."""
    (folders / "home" / "orchestrator.toml").write_text("max_sessions = 5\nidle_timeout = '10m'\nfile_urls = 'roots'")
    lines = ("headless = false", "max_sessions = 3", "idle_timeout = '5m'", "file_urls = 'none'", "max_duration = 60")
    (folders / "work" / "orchestrator.toml").write_text("\n".join(lines))
    settings = Settings.load()
    assert (settings.headless, settings.max_sessions, settings.idle_timeout) == (False, 3, 300)
    assert (settings.file_urls, settings.max_duration, ignored_in_project(settings.home)) == ("none", 60, [])
    lines = ("namespace = 'bank'", "max_sessions = 6", "idle_timeout = '1h'", "file_urls = 'all'", "file_roots = ['/']")
    more = ("require_session_id = 'never'", "max_output = 9000000", "secrets_file = 'x'", "park_ttl = 'nonsense'")
    (folders / "work" / "orchestrator.toml").write_text("\n".join((*lines, *more)))
    assert Settings.load() == settings.model_copy(
        update={
            "headless": True,
            "max_sessions": 5,
            "idle_timeout": 600,
            "file_urls": "roots",
            "max_duration": None,
        }
    )
    assert settings.namespace.startswith("work-")
    assert ignored_in_project(settings.home) == [
        *("file_roots", "file_urls", "idle_timeout", "max_output", "max_sessions", "namespace", "park_ttl"),
        *("require_session_id", "secrets_file"),
    ]


def test_every_setting_is_barred_from_a_project_unless_it_is_listed() -> None:
    """A new setting is none that a cloned repository chooses until somebody says why it may."""
    assert {*HARMLESS, *DOWNWARDS, *STRICTER} < {*Settings.model_fields}
    assert HARMLESS.isdisjoint({*DOWNWARDS, *STRICTER, "namespace", "home", "file_roots"})


@pytest.mark.parametrize(
    ("written", "meant"),
    [("30", 30), (30, 30), ("1.5h", 5400), ("30m", 1800), ("500ms", 0.5), (" 2 S ", 2), ("1d", 86400)],
)
def test_durations_are_read_as_seconds_or_with_a_unit(written: str | float, meant: float) -> None:
    """Durations may be written as `30`, `30m`, `1.5h` or `500ms`."""
    assert parse_duration(written) == meant
    if meant:
        assert Settings.load({"command_timeout": written}).command_timeout == meant


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("command_timeout", "soon"),
        ("command_timeout", "0"),
        ("park_ttl", "99999999999d"),
        ("idle_timeout", math.inf),
        ("idle_timeout", math.nan),
        ("idle_timeout", True),
        ("max_output", "0"),
        ("max_output", "many"),
        ("headless", "perhaps"),
        ("max_sessions", "-1"),
        ("session_warning", "0"),
        ("namespace", "../../elsewhere"),
        ("namespace", ".."),
    ],
)
def test_a_wrong_value_is_refused_with_the_name_of_its_setting(name: str, value: str | float) -> None:
    """A wrong value is `invalid_argument` with a hint at the docs."""
    with pytest.raises(InvalidArgument, match=f"Setting '{name}': ") as refused:
        Settings.load({name: value})
    assert "docs/settings.md" in refused.value.hint


def test_an_unknown_setting_is_refused_with_the_nearest_name() -> None:
    """A misspelled name in a file or an option is an error."""
    with pytest.raises(InvalidArgument, match=r"Unknown setting 'max_ouput'\. Did you mean 'max_output'\?"):
        Settings.load({"max_ouput": 5})


@pytest.mark.parametrize("written", [b"max_output = ", b"\xff\xfe"])
def test_a_broken_settings_file_is_named(folders: Path, written: bytes) -> None:
    """A settings file that cannot be parsed is refused with its path."""
    file = folders / "work" / "orchestrator.toml"
    file.write_bytes(written)
    with pytest.raises(InvalidArgument, match=r"orchestrator\.toml cannot be read") as refused:
        Settings.load()
    assert str(file) in refused.value.message


def test_a_home_that_is_a_file_has_no_settings(folders: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A home that is a file is not reported as a broken settings file."""
    (folders / "file").write_text("")
    monkeypatch.setenv("ORCHESTRATOR_HOME", str(folders / "file"))
    assert Settings.load().home == folders / "file"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows removes no folder that somebody is in")
def test_a_removed_working_folder_is_reported(folders: Path) -> None:
    """A removed working folder gives neither a namespace nor a settings file; the error reports it."""
    (folders / "work").rmdir()
    with pytest.raises(InvalidArgument, match=r"The working folder no longer exists\. Change to another one\."):
        Settings.load()


def test_cloud_settings_are_a_toml_table_or_json(folders: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file has tables, a variable JSON; a fault in it is named, and a cloned repository chooses no cloud."""
    table = '[clouds.browserstack]\nhub_url = "https://hub.example/wd/hub/"\n'
    (folders / "work" / "orchestrator.toml").write_text(table)
    assert Settings.load().clouds == {}
    (folders / "home" / "orchestrator.toml").write_text(table)
    assert Settings.load().clouds["browserstack"].hub_url == "https://hub.example/wd/hub"
    monkeypatch.setenv("ORCHESTRATOR_CLOUDS", '{"testmu": {"api_url": "http://api.example"}}')
    assert Settings.load().clouds["testmu"].api_url == "http://api.example"
    with pytest.raises(InvalidArgument, match=r"Setting 'clouds' \(api\): Extra inputs are not permitted"):
        Settings.load({"clouds": '{"testmu": {"api": "http://api.example"}}'})
    with pytest.raises(InvalidArgument, match=r"Setting 'clouds' \(hub_url\): the URL must begin with http"):
        Settings.load({"clouds": {"testmu": {"hub_url": "hub.example"}}})


def test_passwords_in_urls_are_not_shown_in_printed_settings() -> None:
    """Settings may be printed by users who search for a fault, and by test tools with a failure's variables."""
    cloud = {"browserstack": CloudSettings(hub_url="https://ann:hidden@hub.example")}
    settings = Settings(grid_url="http://ann:hidden@grid", appium_url="http://ann:hidden@appium", clouds=cloud)
    assert "hidden" not in f"{settings!r} {settings}"
    assert "idle_timeout=1800" in repr(settings)


def test_an_empty_environment_variable_counts_as_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """`ORCHESTRATOR_MAX_SESSIONS=` counts as not set."""
    monkeypatch.setenv("ORCHESTRATOR_MAX_SESSIONS", "")
    assert Settings.load().max_sessions is None


def test_unknown_environment_variables_are_listed_with_the_nearest_name() -> None:
    """A variable with the prefix of settings that is none of them gets a warning."""
    environ = {"ORCHESTRATOR_HOME": "/h", "ORCHESTRATOR_HEADLES": "1", "ORCHESTRATOR_ZZZ": "1", "PATH": "/bin"}
    assert unknown_variables(environ) == [
        "ORCHESTRATOR_HEADLES (did you mean ORCHESTRATOR_HEADLESS?)",
        "ORCHESTRATOR_ZZZ",
    ]


def test_the_namespace_comes_from_the_project_folder(folders: Path) -> None:  # O14
    """Two folders of one name differ; the client's project folder has priority over the working folder."""
    here = project_namespace({})
    assert here == Settings.load().namespace
    assert here.startswith("work-")
    there = project_namespace({"CLAUDE_PROJECT_DIR": str(folders / "other" / "work")})
    assert there.startswith("work-")
    assert there != here


@pytest.mark.parametrize("folder", [Path("/"), Path.home()])
def test_the_root_and_the_users_home_folder_have_the_default_namespace(folder: Path) -> None:  # O14
    """Hosts that start servers in `/` or the user's home folder, which is no project, share `default`."""
    assert project_namespace({"CLAUDE_PROJECT_DIR": str(folder)}) == "default"


def test_the_data_folder_is_absolute(monkeypatch: pytest.MonkeyPatch, folders: Path) -> None:
    """A relative or `~` path is made absolute once, so that every process means the same folder."""
    monkeypatch.setenv("ORCHESTRATOR_HOME", "data")
    assert Settings.load().home == folders / "work" / "data"
    monkeypatch.setenv("ORCHESTRATOR_HOME", "~/data")
    assert Settings.load().home == Path.home() / "data"
