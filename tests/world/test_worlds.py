"""The worlds that a process keeps: which are given up, and what is told of it."""

from __future__ import annotations

import math
from collections.abc import Iterator

import psutil
import pytest

from orchestrator.errors import InvalidArgument
from orchestrator.world.worlds import MOST, Worlds

KEPT = "Globals are gone; vars are still there."


class Clock:
    """A time that stands until it is set."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        """Tell it."""
        return self.now


@pytest.fixture
def clock() -> Clock:
    """The clock of the worlds."""
    return Clock()


@pytest.fixture
def worlds(clock: Clock) -> Iterator[Worlds]:
    """Worlds that are given up after a minute."""
    worlds = Worlds([], 64, 60, clock)
    yield worlds
    worlds.close()


def test_a_session_has_one_world(worlds: Worlds) -> None:  # F17 F52
    """The same at each use, and no other session's."""
    one, new = worlds.of("a", "remote-1")
    other, _ = worlds.of("b", "remote-2")
    one.set("mine", [1])
    assert (worlds.of("a", "remote-1"), new) == ((one, False), True)
    assert (one.get("mine"), other.get("mine")) == ([1], None)
    assert worlds.reset("a", "remote-1") == ""


def test_an_idle_world_is_given_up(worlds: Worlds, clock: Clock) -> None:  # F30
    """Once no script used it for its time, which each use begins anew; one that is in use never."""
    for name in ("idle", "used", "busy"):
        worlds.of(name, name)
    worlds.of("busy", "busy")[0].busy = True
    clock.now = 40
    worlds.of("used", "used")
    clock.now = 60
    assert [worlds.idle_left(name) for name in ("idle", "used", "busy", "none")] == [0, 40, math.inf, math.inf]
    for name in ("idle", "used", "busy", "none"):
        worlds.give_up_idle(name)
    told = f"The script world was reset: no script used it for 60 s. {KEPT}"
    assert [worlds.reset(name, name) for name in ("idle", "used", "busy")] == [told, "", ""]
    assert worlds.reset("idle", "idle") == ""
    assert worlds.of("idle", "idle")[1]
    worlds.of("busy", "busy")[0].busy = False


def test_the_world_that_was_unused_for_longest_makes_room(worlds: Worlds, clock: Clock) -> None:  # F30
    """A process keeps a number of them."""
    for number in range(MOST + 1):
        clock.now = number
        worlds.of(f"s{number}", "remote")
    assert worlds.reset("s0", "remote") == (
        f"The script world was reset: {MOST} other sessions have used theirs since. {KEPT}"
    )
    assert [worlds.reset(f"s{number}", "remote") for number in range(1, MOST + 1)] == [""] * MOST


def test_a_new_browser_has_a_new_world(worlds: Worlds) -> None:  # F28
    """The session goes on under its name, in another remote session."""
    worlds.of("a", "remote-1")[0].set("mine", 1)
    assert worlds.reset("a", "remote-2") == f"The script world was reset: the session's browser is a new one. {KEPT}"
    world, new = worlds.of("a", "remote-2")
    assert (world.get("mine"), new) == (None, True)


def test_a_world_whose_process_ended_is_told(worlds: Worlds) -> None:
    """Such as for want of memory on the machine: the session gets a new one at its next use."""
    world, _ = worlds.of("a", "remote-1")
    engine = max(psutil.Process().children(), key=lambda process: process.create_time())
    engine.kill()
    with pytest.raises(InvalidArgument, match="cannot be read"):
        world.get("mine")
    assert worlds.reset("a", "remote-1") == f"The script world was reset: its process ended. {KEPT}"
    assert worlds.of("a", "remote-1")[1]


def test_a_closed_session_leaves_nothing_to_tell(worlds: Worlds) -> None:
    """The next one of its name is another session."""
    worlds.of("a", "remote-1")
    worlds.forget("a")
    assert worlds.reset("a", "remote-2") == ""
