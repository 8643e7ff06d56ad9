"""run_script: JavaScript that acts, in a world of the session's own."""

from __future__ import annotations

from typing import Any

from tests.e2e.stage import Stage

FORM = "<input id=i aria-label=Name><button onclick=\"p.textContent = 'Hello, ' + i.value\">Go</button><p id=p></p>"


def run(stage: Stage, script: str, **arguments: Any) -> Any:
    """Run a script that must succeed; its value."""
    return stage.ok("run_script", script=script, **arguments)["value"]


def test_a_script_acts_and_reads(stage: Stage) -> None:  # F3 F14
    """Its actions are those of the session, one after the other, and `return` is what the call answers."""
    stage.show(FORM)
    script = """
        await page.setValue({selector: "label=Name", value: "Ann"});
        await page.clickElement({selector: "text=Go"});
        return (await get_text({selector: "#p"})).text;
    """
    assert run(stage, script) == "Hello, Ann"
