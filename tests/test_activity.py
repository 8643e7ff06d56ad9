"""The logs of sessions as files: bounded, without secrets, gone when nobody remembers the session."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from orchestrator.actions.catalogue import CATALOGUE
from orchestrator.activity import Activity, Doing, Entry, entries
from orchestrator.cli.sessions import table
from orchestrator.errors import ElementNotFound
from orchestrator.models import Caller, SessionRecord, SessionType
from orchestrator.secrets import Redactor

ME = Caller(key="me", pid=7, created=1.0, door="cli")


def record(name: str = "ann", created: float = 1.0) -> SessionRecord:
    """A session that was created then."""
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
    """It knows no secret yet."""
    return Redactor()


@pytest.fixture
def activity(tmp_path: Path, redactor: Redactor) -> Activity:
    """The logs of this test's home."""
    return Activity(tmp_path, ME, redactor)


def files(home: Path) -> list[str]:
    """The files of logs."""
    return sorted(path.name for path in (home / "logs").rglob("*") if path.is_file())


def test_what_was_done_is_one_entry(activity: Activity, tmp_path: Path) -> None:  # W33
    """By whom, what, with which arguments, for how long; what it returns is handed on."""
    assert activity.noted(record(), Doing("get_text", {"selector": "#a"}), lambda: 42) == 42
    (entry,) = entries(tmp_path, record())
    assert (entry.door, entry.pid, entry.action, entry.arguments) == ("cli", 7, "get_text", {"selector": "#a"})
    assert (entry.error, entry.message, entry.duration_ms >= 0) == (None, None, True)


def test_what_failed_says_why(activity: Activity, tmp_path: Path) -> None:  # W33
    """The code and the sentence of the error, which goes on to the caller; a call that was given up is stopped."""

    def fail(error: BaseException) -> None:
        raise error

    with pytest.raises(ElementNotFound):
        activity.noted(record(), Doing("click"), lambda: fail(ElementNotFound("No element matches '#a'.")))
    with pytest.raises(KeyboardInterrupt):
        activity.noted(record(), Doing("click"), lambda: fail(KeyboardInterrupt()))
    found = [(entry.error, entry.message) for entry in entries(tmp_path, record())]
    assert found == [("element_not_found", "No element matches '#a'."), ("stopped", None)]


def test_only_its_owner_can_read_it(activity: Activity, tmp_path: Path) -> None:  # W33
    """The file is 0600, its folders are 0700."""
    activity.note(record(), Doing("close"))
    modes = [stat.S_IMODE(path.stat().st_mode) for path in sorted((tmp_path / "logs").rglob("*"))]
    assert modes == [0o700, 0o600]
    assert stat.S_IMODE((tmp_path / "logs").stat().st_mode) == 0o700


def test_no_secret_is_in_it(activity: Activity, redactor: Redactor, tmp_path: Path) -> None:  # W33
    """Not one that this process knows, not user and password of a URL, and not the half of one."""
    redactor.add("correct horse")
    arguments = {
        "url": "https://me:pass@shop.example/",
        "script": "x" * 195 + "correct horse",
        "values": ["correct horse", "fetch('http://me:p@ss@shop.example/')"],
    }
    activity.note(record(), Doing("any", arguments), "It said correct horse at http://me:pass@shop.example/.")
    (entry,) = entries(tmp_path, record())
    values = ["•••", "fetch('http://shop.example/')"]
    assert entry.arguments == {"url": "https://shop.example/", "script": "x" * 195 + "•••", "values": values}
    assert entry.message == "It said ••• at http://shop.example/."


@pytest.mark.parametrize(
    ("verb", "given", "told"),
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
def test_what_may_be_a_password_is_masked(verb: str, given: dict[str, object], told: dict[str, object]) -> None:  # W33
    """Typed text is, whatever field it went to: a log outlives the process that knows which were passwords."""
    assert CATALOGUE[verb].model_validate(given).told() == told


def test_it_is_bounded(activity: Activity, tmp_path: Path) -> None:  # W33
    """The older half goes; what came last is there."""
    told = Doing("any", {f"{n}": "x" * 200 for n in range(100)})
    for _ in range(150):
        activity.note(record(), told)
    activity.note(record(), Doing("last"))
    assert files(tmp_path) == ["ann~1000.jsonl", "ann~1000.jsonl.old"]
    assert sum(path.stat().st_size for path in (tmp_path / "logs/shop").iterdir()) < 2_100_000
    found = entries(tmp_path, record())
    assert 50 < len(found) < 150
    assert found[-1].action == "last"


def test_a_later_session_of_the_name_begins_anew(activity: Activity, tmp_path: Path) -> None:  # W33
    """The earlier one's log goes, as its record does; that of a session whose name begins the same stays."""
    for one in (record("ann"), record("ann.b"), record("ann", 2.0)):
        activity.note(one, Doing("start"))
    assert files(tmp_path) == ["ann.b~1000.jsonl", "ann~2000.jsonl"]
    assert entries(tmp_path, record("ann")) == []


def test_what_is_forgotten_is_removed(activity: Activity, tmp_path: Path) -> None:  # W33
    """Logs whose session is remembered stay."""
    for name in ("ann", "ben"):
        activity.note(record(name), Doing("start"))
    activity.tidy(lambda _, name: record(name) if name == "ben" else None)
    assert files(tmp_path) == ["ben~1000.jsonl"]


def test_half_a_line_is_left_out(activity: Activity, tmp_path: Path) -> None:  # W33
    """A crash in the middle of writing costs that line alone, and what a page says can be no text at all."""
    activity.note(record(), Doing("first"))
    file = tmp_path / "logs/shop/ann~1000.jsonl"
    with file.open("a") as opened:
        opened.write('{"at":"2026\n')
    activity.note(record(), Doing("second", {"text": "half \ud83d"}))
    assert [entry.action for entry in entries(tmp_path, record())] == ["first", "second"]


def test_what_cannot_be_written_fails_nothing(tmp_path: Path) -> None:  # W33
    """What was done was done."""
    (tmp_path / "logs").write_text("in the way")
    assert Activity(tmp_path, ME, Redactor()).noted(record(), Doing("any"), lambda: "done") == "done"


def test_entries_are_in_order_of_their_beginning(activity: Activity, tmp_path: Path) -> None:  # W33
    """A sequence stands before its steps, though it ends after them."""

    def steps() -> None:
        for index in range(2):
            activity.noted(record(), Doing("step", step=index), lambda: None)

    activity.noted(record(), Doing("execute_sequence"), steps)
    assert [entry.step for entry in entries(tmp_path, record())] == [None, 0, 1]
    assert all(isinstance(entry, Entry) for entry in entries(tmp_path, record()))


def test_an_entry_is_one_line_of_a_terminal() -> None:  # W33
    """Whatever a page or a caller said in it."""
    rows = [("TIME", "ACTION"), ("1", "execute_script script=a\nb \x1b[2J ünd•••"), ("2", "close")]
    assert table(rows).splitlines() == [
        "TIME  ACTION",
        "1     execute_script script=a\\nb \\x1b[2J ünd•••",
        "2     close",
    ]
