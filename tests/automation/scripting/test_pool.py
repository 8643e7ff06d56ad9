"""The script worlds that a process keeps: which are dropped, and how that is reported."""

from __future__ import annotations

import math
from collections.abc import Iterator

import psutil
import pytest

from orchestrator.automation.scripting import engine
from orchestrator.automation.scripting.engine import OutOfMemory
from orchestrator.automation.scripting.modules import ScriptModules
from orchestrator.automation.scripting.pool import MOST, WorldPool
from orchestrator.errors import Unsupported

KEPT = "Globals are gone; vars are still there."


class Clock:
    """A clock that stands still until it is set."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        """Return the time."""
        return self.now


@pytest.fixture
def clock() -> Clock:
    """The clock of the script worlds."""
    return Clock()


@pytest.fixture
def worlds(clock: Clock) -> Iterator[WorldPool]:
    """Script worlds that are dropped after a minute."""
    worlds = WorldPool([], 64, 60, ScriptModules(None), clock)
    yield worlds
    worlds.close()


def test_a_session_has_one_script_world_of_its_own(worlds: WorldPool) -> None:  # F3 F43
    """A session has the same script world at each use, and no other session shares it."""
    one, new = worlds.get_or_create("a", "remote-1")
    other, _ = worlds.get_or_create("b", "remote-2")
    one.engine.evaluate("globalThis.mine = 1; 0", 20)
    assert (worlds.get_or_create("a", "remote-1"), new) == ((one, False), True)
    assert [world.engine.evaluate("typeof mine", 20) for world in (one, other)] == ["number", "undefined"]
    assert worlds.take_reset_notice("a", "remote-1") == ""


def test_an_idle_script_world_is_given_up(worlds: WorldPool, clock: Clock) -> None:  # F30
    """A script world is dropped after its idle time, which each use restarts; one in use never is."""
    for name in ("idle", "used", "busy"):
        worlds.get_or_create(name, name)
    worlds.get_or_create("busy", "busy")[0].busy = True
    clock.now = 40
    worlds.get_or_create("used", "used")
    clock.now = 60
    assert [worlds.idle_seconds_left(name) for name in ("idle", "used", "busy", "none")] == [0, 40, math.inf, math.inf]
    for name in ("idle", "used", "busy", "none"):
        worlds.give_up_idle(name)
    told = f"The script world was reset: no script used it for 60 s. {KEPT}"
    assert [worlds.take_reset_notice(name, name) for name in ("idle", "used", "busy")] == [told, "", ""]
    assert worlds.take_reset_notice("idle", "idle") == ""
    assert worlds.get_or_create("idle", "idle")[1]
    worlds.get_or_create("busy", "busy")[0].busy = False


def test_the_least_recently_used_script_world_makes_room_for_a_new_one(worlds: WorldPool, clock: Clock) -> None:  # F30
    """A process keeps a limited number of script worlds."""
    for number in range(MOST + 1):
        clock.now = number
        worlds.get_or_create(f"s{number}", "remote")
    assert worlds.take_reset_notice("s0", "remote") == (
        f"The script world was reset: {MOST} other sessions have used theirs since. {KEPT}"
    )
    assert [worlds.take_reset_notice(f"s{number}", "remote") for number in range(1, MOST + 1)] == [""] * MOST


def test_a_sessions_new_browser_gets_a_new_script_world(worlds: WorldPool) -> None:  # F28 F29
    """A session whose browser is a new one gets a new script world, and the reset is reported."""
    worlds.get_or_create("a", "remote-1")[0].engine.evaluate("globalThis.mine = 1; 0", 20)
    assert (
        worlds.take_reset_notice("a", "remote-2")
        == f"The script world was reset: the session's browser is a new one. {KEPT}"
    )
    world, new = worlds.get_or_create("a", "remote-2")
    assert (world.engine.evaluate("typeof mine", 20), new) == ("undefined", True)


def test_a_session_that_another_process_closed_and_started_anew_reports_the_reset(worlds: WorldPool) -> None:  # F28
    """The reset is reported even if maintenance found the session closed, and dropped its world, in between."""
    worlds.get_or_create("a", "remote-1")
    worlds.keep_only([])
    worlds.keep_only([])
    assert (
        worlds.take_reset_notice("a", "remote-2")
        == f"The script world was reset: the session's browser is a new one. {KEPT}"
    )
    assert worlds.get_or_create("a", "remote-2")[1]


def test_a_script_world_whose_process_ended_is_reported_and_replaced(worlds: WorldPool) -> None:
    """The reset is reported with its reason, and the session's next use gets a new script world."""
    world, _ = worlds.get_or_create("a", "remote-1")
    engine = max(psutil.Process().children(), key=lambda process: process.create_time())
    engine.kill()
    with pytest.raises(OutOfMemory):
        world.engine.evaluate("1", 20)
    assert worlds.take_reset_notice("a", "remote-1") == f"The script world was reset: its process ended. {KEPT}"
    assert worlds.get_or_create("a", "remote-1")[1]


def test_a_closed_session_leaves_no_script_world_reset_to_report(worlds: WorldPool) -> None:
    """A later session of the same name is another session, and no reset is reported to it."""
    worlds.get_or_create("a", "remote-1")
    worlds.forget("a")
    assert worlds.take_reset_notice("a", "remote-2") == ""


def test_a_script_without_an_engine_is_unsupported_with_what_to_use_instead(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a package of the engine has no wheel, the error says so, and names the tools that need none."""
    monkeypatch.setattr(engine, "MODULES", ("py_mini_racer", "a_module_without_a_wheel"))
    with pytest.raises(Unsupported) as caught:
        engine.require_engine()
    assert "it has no wheels for some systems" in caught.value.message
    assert caught.value.hint.startswith("Use execute_sequence or execute_script; or try: pip install mini-racer")
