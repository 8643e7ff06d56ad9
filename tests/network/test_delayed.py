"""Tasks that run after a delay."""

from __future__ import annotations

from orchestrator.network.delayed import DelayedTasks


def test_a_failing_delayed_task_does_not_stop_later_tasks() -> None:
    """Tasks queued behind a failing one, and later ones, are run."""
    later, done = DelayedTasks(), list[str]()

    def fail() -> None:
        raise KeyError("of the task's own")

    later.after(0.01, fail)
    later.after(0.02, lambda: done.append("behind"))
    assert later.wait_until_done(20)
    later.after(0.03, fail)
    later.after(0.04, lambda: done.append("last"))
    while "last" not in done:
        assert later.wait_until_done(20)
    assert done == ["behind", "last"]
