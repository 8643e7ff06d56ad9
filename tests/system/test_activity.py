"""The logs of sessions as files: bounded, without secrets, removed with the session's record."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from orchestrator.actions.catalogue import CATALOGUE
from orchestrator.cli.log import table
from orchestrator.errors import ElementNotFound
from orchestrator.models.session import Caller, SessionRecord, SessionType
from orchestrator.system.activity import ActivityEntry, ActivityLog, LoggedAction, entries
from orchestrator.system.secrets import Redactor

ME = Caller(key="me", pid=7, created=1.0, door="cli")


def record(name: str = "ann", created: float = 1.0) -> SessionRecord:
    """Return a session that was created at this time."""
    return SessionRecord(
        id=name,
        namespace="shop",
        type=SessionType.BROWSER,
        provider="local",
        owner="me",
        created_at=created,
        last_active_at=created,
    )


@pytest.fixture
def redactor() -> Redactor:
    """A redactor without any secret yet."""
    return Redactor()


@pytest.fixture
def activity(tmp_path: Path, redactor: Redactor) -> ActivityLog:
    """The logs of this test's home."""
    return ActivityLog(tmp_path, ME, redactor)


def files(home: Path) -> list[str]:
    """Return the log files."""
    return sorted(path.name for path in (home / "logs").rglob("*") if path.is_file())


def test_an_action_is_logged_as_one_entry(activity: ActivityLog, tmp_path: Path) -> None:  # W33
    """An entry names caller, action, arguments and duration."""
    with activity.log_call(record(), LoggedAction("get_text", {"selector": "#a"})) as call:
        call.outcome = 42
    (entry,) = entries(tmp_path, record())
    assert (entry.door, entry.pid, entry.action, entry.arguments) == ("cli", 7, "get_text", {"selector": "#a"})
    assert (entry.error, entry.message, entry.duration_ms >= 0) == (None, None, True)


def test_a_failed_action_is_logged_with_its_error(activity: ActivityLog, tmp_path: Path) -> None:  # W33
    """A failed action is logged with the error's code and message, an interrupted one as stopped."""
    for error in (ElementNotFound("No element matches '#a'."), KeyboardInterrupt()):
        with pytest.raises(type(error)), activity.log_call(record(), LoggedAction("click")):
            raise error
    found = [(entry.error, entry.message) for entry in entries(tmp_path, record())]
    assert found == [("element_not_found", "No element matches '#a'."), ("stopped", None)]


def test_only_the_owner_can_read_a_session_log(activity: ActivityLog, tmp_path: Path) -> None:  # W33
    """The log file has mode 0600, its folders have 0700."""
    activity.log_event(record(), LoggedAction("close"))
    modes = [stat.S_IMODE(path.stat().st_mode) for path in sorted((tmp_path / "logs").rglob("*"))]
    assert modes == [0o700, 0o600]
    assert stat.S_IMODE((tmp_path / "logs").stat().st_mode) == 0o700


def test_a_session_log_holds_no_secret(activity: ActivityLog, redactor: Redactor, tmp_path: Path) -> None:  # W33
    """Neither known secrets, even in a cut argument, nor users and passwords of URLs are logged."""
    redactor.add("correct horse")
    arguments = {
        "url": "https://me:pass@shop.example/",
        "script": "x" * 195 + "correct horse",
        "values": ["correct horse", "fetch('http://me:p@ss@shop.example/')"],
    }
    activity.log_event(
        record(), LoggedAction("any", arguments), "It said correct horse at http://me:pass@shop.example/."
    )
    (entry,) = entries(tmp_path, record())
    values = ["•••", "fetch('http://shop.example/')"]
    assert entry.arguments == {"url": "https://shop.example/", "script": "x" * 195 + "•••", "values": values}
    assert entry.message == "It said ••• at http://shop.example/."


@pytest.mark.parametrize(
    ("verb", "given", "expected"),
    [
        ("set_value", {"selector": "#p", "value": "pw"}, {"selector": "#p", "value": "•••"}),
        ("press_keys", {"keys": "p Shift+w Enter ctrl+a"}, {"keys": "••• ••• Enter Control+a"}),
        ("expect", {"selector": "#p", "value": "pw"}, {"selector": "#p", "value": "•••"}),
        ("cookies", {"action": "set", "name": "id", "value": "pw"}, {"action": "set", "name": "id", "value": "•••"}),
        ("handle_dialog", {"accept": True, "promptText": "pw"}, {"accept": True, "promptText": "•••"}),
        ("execute_script", {"script": "return 1", "args": ["pw"]}, {"script": "return 1", "args": "•••"}),
        ("navigate", {"url": "http://a/", "waitUntil": "none"}, {"url": "http://a/", "waitUntil": "none"}),
    ],
)
def test_arguments_that_may_hold_a_password_are_masked_in_the_log(
    verb: str, given: dict[str, object], expected: dict[str, object]
) -> None:  # W33
    """Typed text is masked for every field, since the log cannot know which were passwords."""
    assert CATALOGUE[verb].model_validate(given).log_arguments() == expected


def test_a_session_log_is_bounded_and_keeps_its_newest_entries(activity: ActivityLog, tmp_path: Path) -> None:  # W33
    """The older half of a full log is dropped, and the last entry is kept."""
    told = LoggedAction("any", {f"{n}": "x" * 200 for n in range(100)})
    for _ in range(150):
        activity.log_event(record(), told)
    activity.log_event(record(), LoggedAction("last"))
    assert files(tmp_path) == ["ann~1000.jsonl", "ann~1000.jsonl.old"]
    assert sum(path.stat().st_size for path in (tmp_path / "logs/shop").iterdir()) < 2_100_000
    found = entries(tmp_path, record())
    assert 50 < len(found) < 150
    assert found[-1].action == "last"


def test_a_later_session_of_the_same_name_begins_a_new_log(activity: ActivityLog, tmp_path: Path) -> None:  # W33
    """The earlier session's log is removed; that of a session with a longer name stays."""
    for one in (record("ann"), record("ann.b"), record("ann", 2.0)):
        activity.log_event(one, LoggedAction("start"))
    assert files(tmp_path) == ["ann.b~1000.jsonl", "ann~2000.jsonl"]
    assert entries(tmp_path, record("ann")) == []


def test_logs_of_forgotten_sessions_are_removed(activity: ActivityLog, tmp_path: Path) -> None:  # W33
    """Logs of remembered sessions stay."""
    for name in ("ann", "ben"):
        activity.log_event(record(name), LoggedAction("start"))
    activity.remove_stale_logs(lambda _, name: record(name) if name == "ben" else None)
    assert files(tmp_path) == ["ben~1000.jsonl"]


def test_a_half_written_log_line_is_skipped(activity: ActivityLog, tmp_path: Path) -> None:  # W33
    """A crash while writing costs that line alone, and text with a lone surrogate can be logged."""
    activity.log_event(record(), LoggedAction("first"))
    file = tmp_path / "logs/shop/ann~1000.jsonl"
    with file.open("a") as opened:
        opened.write('{"at":"2026\n')
    activity.log_event(record(), LoggedAction("second", {"text": "half \ud83d"}))
    assert [entry.action for entry in entries(tmp_path, record())] == ["first", "second"]


def test_an_action_succeeds_although_its_log_cannot_be_written(tmp_path: Path) -> None:  # W33
    """An action's result is returned although the log's folder cannot be made."""
    (tmp_path / "logs").write_text("in the way")
    with ActivityLog(tmp_path, ME, Redactor()).log_call(record(), LoggedAction("any")) as call:
        call.outcome = "done"


def test_log_entries_are_in_order_of_their_start(activity: ActivityLog, tmp_path: Path) -> None:  # W33
    """A sequence precedes its steps, though it ends after them."""
    with activity.log_call(record(), LoggedAction("execute_sequence")):
        for index in range(2):
            with activity.log_call(record(), LoggedAction("step", step=index)):
                pass
    assert [entry.step for entry in entries(tmp_path, record())] == [None, 0, 1]
    assert all(isinstance(entry, ActivityEntry) for entry in entries(tmp_path, record()))


def test_a_log_entry_is_printed_on_one_terminal_line() -> None:  # W33
    """Line breaks and control characters in an entry are printed escaped."""
    rows = [("TIME", "ACTION"), ("1", "execute_script script=a\nb \x1b[2J ünd•••"), ("2", "close")]
    assert table(rows).splitlines() == [
        "TIME  ACTION",
        "1     execute_script script=a\\nb \\x1b[2J ünd•••",
        "2     close",
    ]
