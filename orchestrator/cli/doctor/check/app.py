"""The actions of the self-test in any app: they use what is on its screen."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.cli.doctor.check.steps import CheckStep, LeftOut, describe_screenshot, require
from orchestrator.session import Session

_FIELDS = ("textbox", "searchbox")
_TYPED = "Ada"


class AppCheck:
    """The actions in one app. A switch is never tapped: a real phone would leave its network."""

    def __init__(self) -> None:
        self._first_text = ""

    def steps(self) -> Sequence[CheckStep]:
        """Return the actions between start and end, in order."""
        return [
            CheckStep("get_visible_elements", self._outline),
            CheckStep("get_text", self._text, is_first=True),
            CheckStep("wait_for", self._wait_for),
            CheckStep("tap_element", self._tap),
            CheckStep("set_value", self._set_value),
            CheckStep("scroll", self._scroll),
            CheckStep("take_screenshot", self._screenshot),
            CheckStep("execute_script", self._script),
            CheckStep("manage_device", self._home),
            CheckStep("manage_app", self._activate),
        ]

    async def _outline(self, session: Session) -> str:
        found = await session.get_visible_elements()
        require(found.shown, "The outline is empty.")
        return f"{found.shown} elements"

    async def _text(self, session: Session) -> str:
        found = await session.get_text()
        lines = [line.strip() for line in found.text.splitlines() if line.strip()]
        require(lines, "No text is on the screen.")
        self._first_text = lines[0]
        return f"{len(lines)} lines, {lines[0]!r} first"

    async def _wait_for(self, session: Session) -> str:
        await session.wait_for(text=self._first_text)
        return ""

    async def _tap(self, session: Session) -> str:
        await session.tap_element(f"text={self._first_text}")
        return f"on {self._first_text!r}"

    async def _set_value(self, session: Session) -> str | LeftOut:
        found = await session.get_visible_elements(roles=_FIELDS, format="json")
        if not found.elements:
            return LeftOut("No text field is on the screen.")
        field = found.elements[0]
        await session.set_value(field.ref, _TYPED)
        await session.expect(field.ref, value=_TYPED)
        return f"of {field.name or field.role!r}"

    async def _scroll(self, session: Session) -> str:
        done = await session.scroll(direction="down")
        return " ".join(done.warnings)

    async def _screenshot(self, session: Session) -> str:
        return describe_screenshot(await session.take_screenshot())

    async def _script(self, session: Session) -> str:
        found = await session.execute_script("mobile: deviceInfo")
        require(isinstance(found.value, dict), f"mobile: deviceInfo returned {found.value!r}.")
        return "mobile: deviceInfo"

    async def _home(self, session: Session) -> str:
        await session.manage_device("press", value="home")
        found = await session.manage_app("state")
        require(found.state != "foreground", "The app is in the foreground after the button home.")
        return "button home"

    async def _activate(self, session: Session) -> str:
        await session.manage_app("activate")
        found = await session.manage_app("state")
        require(found.state == "foreground", f"The app is {found.state} after it was activated.")
        return f"{found.app} is in the {found.state}"
