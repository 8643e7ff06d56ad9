"""What is done a while later."""

from __future__ import annotations

from orchestrator.network.later import Later


def test_what_fails_keeps_nothing_from_being_done() -> None:
    """What waits behind it, and what comes later."""
    later, done = Later(), list[str]()

    def fail() -> None:
        raise KeyError("of the task's own")

    later.after(0.01, fail)
    later.after(0.02, lambda: done.append("behind"))
    assert later.done(20)
    later.after(0.03, fail)
    later.after(0.04, lambda: done.append("last"))
    while "last" not in done:
        assert later.done(20)
    assert done == ["behind", "last"]
