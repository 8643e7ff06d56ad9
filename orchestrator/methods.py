"""Each action as a method, and the blocking twins: written by `make docs`, never by hand."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Generic, Literal, TypeVar

from orchestrator.actions.app_results import AppManaged, Contexts, DeviceManaged
from orchestrator.actions.apps import ManageApp
from orchestrator.actions.archives import Har
from orchestrator.actions.base import Action, ResultT
from orchestrator.actions.browser_results import CookieList, Emulated, FrameEntered, StorageSaved, TabList
from orchestrator.actions.choosing import SelectOption
from orchestrator.actions.contexts import SwitchContext
from orchestrator.actions.cookies import Cookies
from orchestrator.actions.devices import ManageDevice
from orchestrator.actions.dialogs import HandleDialog
from orchestrator.actions.dragging import DragAndDrop
from orchestrator.actions.ear_results import ConsoleLog, NetworkLog
from orchestrator.actions.emulate import Emulate
from orchestrator.actions.files import UploadFiles
from orchestrator.actions.gestures import Pinch, Swipe
from orchestrator.actions.hearing import GetConsole, GetNetwork
from orchestrator.actions.keyboard import PressKeys, SetValue
from orchestrator.actions.navigation import Navigate
from orchestrator.actions.network_results import Archive, Routes
from orchestrator.actions.pictures import TakeScreenshot
from orchestrator.actions.pointer import ClickElement, Hover, Scroll
from orchestrator.actions.policy import SetPolicy
from orchestrator.actions.reading import GetPageSource, GetText, GetVisibleElements
from orchestrator.actions.results import (
    Acted,
    Elements,
    InForce,
    Met,
    PageSource,
    PageText,
    Screenshot,
    ScriptResult,
    Value,
)
from orchestrator.actions.routes import Route
from orchestrator.actions.running import RunScript
from orchestrator.actions.scripts import ExecuteScript
from orchestrator.actions.storage import SaveStorageState
from orchestrator.actions.touch import TapElement
from orchestrator.actions.waits import Attribute, Expect, WaitFor
from orchestrator.actions.windows import SetViewport, SwitchFrame, Tabs
from orchestrator.app_storage import AppList, UploadedApp
from orchestrator.compare import CompareSessions, Comparison
from orchestrator.devices import DeviceList
from orchestrator.emulation import Geolocation, Viewport
from orchestrator.mark import Status
from orchestrator.models import AttachRequest, Mode, StartRequest
from orchestrator.parallel import ExecuteParallel, ParallelResult, Part
from orchestrator.rows import Closed, Current, Row, SessionFacts, SessionList
from orchestrator.sequence import ExecuteSequence, SequenceResult, Steps


class SessionMethods(ABC):
    """What can be done in a session; each raises an `OrchestratorError` when it cannot be done."""

    @abstractmethod
    async def _do(self, declared: type[Action[ResultT]], fields: Mapping[str, Any]) -> ResultT:
        """Read the fields as this action, and do it."""

    async def navigate(
        self,
        url: str | None = None,
        *,
        history: Literal["back", "forward", "reload"] | None = None,
        wait_until: Literal["load", "none", "interactive"] = "load",
        observe: Literal["none", "change", "outline"] | None = None,
        timeout: int | None = None,
    ) -> Acted:
        """Open a URL in the browser, or go back, forward or reload.

        Args:
            url: An absolute URL.
            history: Instead of `url`.
            wait_until: How far the page must have loaded.
            observe: How much to report of what it changed; `change` also waits until the page has settled.
            timeout: In ms.
        """
        return await self._do(
            Navigate, {"url": url, "history": history, "wait_until": wait_until, "observe": observe, "timeout": timeout}
        )

    async def get_visible_elements(
        self,
        *,
        scope: Literal["viewport", "page"] = "viewport",
        root: str | None = None,
        query: str | None = None,
        roles: Sequence[str] = (),
        limit: int = 200,
        offset: int = 0,
        format: Literal["outline", "json"] = "outline",
    ) -> Elements:
        """List what the page shows, with refs to click and fill in: buttons, links, fields, headings, text.

        Call it first.

        Args:
            scope: What is visible now, or the whole page.
            root: Selector.
            query: Text to find.
            roles: Only elements of these roles.
            limit: At most so many.
            offset: Leave out so many.
            format: The form of the result.
        """
        return await self._do(
            GetVisibleElements,
            {
                "scope": scope,
                "root": root,
                "query": query,
                "roles": roles,
                "limit": limit,
                "offset": offset,
                "format": format,
            },
        )

    async def get_text(self, selector: str | None = None) -> PageText:
        """Read the visible text of the page, or of one element.

        Args:
            selector: Which element: see selectors.
        """
        return await self._do(GetText, {"selector": selector})

    async def get_page_source(self, selector: str | None = None) -> PageSource:
        """Read the HTML of the page, or of one element.

        Args:
            selector: Which element: see selectors.
        """
        return await self._do(GetPageSource, {"selector": selector})

    async def take_screenshot(
        self,
        selector: str | None = None,
        *,
        full_page: bool = False,
        marks: bool = False,
        format: Literal["png", "jpeg"] = "png",
        path: str | None = None,
    ) -> Screenshot:
        """Take a picture of what is shown, of an element or the whole page; saved as a file, too.

        To act on the page use get_visible_elements.

        Args:
            selector: Only this element.
            full_page: The whole page, not only what is seen of it.
            marks: Draw the refs on it.
            format: That of the image and of the file.
            path: Where to save it.
        """
        return await self._do(
            TakeScreenshot,
            {"selector": selector, "full_page": full_page, "marks": marks, "format": format, "path": path},
        )

    async def click_element(
        self,
        selector: str,
        *,
        button: Literal["left", "middle", "right"] = "left",
        count: int = 1,
        modifiers: Sequence[Literal["Alt", "Control", "Meta", "Shift"]] = (),
        observe: Literal["none", "change", "outline"] | None = None,
        timeout: int | None = None,
    ) -> Acted:
        """Click a button, link or any element; in an app it is a tap.

        Waits until it can be clicked.

        Args:
            selector: Which element: see selectors.
            button: The mouse button.
            count: 2 is a double click.
            modifiers: Keys held down meanwhile.
            observe: How much to report of what it changed; `change` also waits until the page has settled.
            timeout: In ms.
        """
        return await self._do(
            ClickElement,
            {
                "selector": selector,
                "button": button,
                "count": count,
                "modifiers": modifiers,
                "observe": observe,
                "timeout": timeout,
            },
        )

    async def hover(
        self, selector: str, *, observe: Literal["none", "change", "outline"] | None = None, timeout: int | None = None
    ) -> Acted:
        """Move the mouse over an element, to open a menu or tooltip.

        Args:
            selector: Which element: see selectors.
            observe: How much to report of what it changed; `change` also waits until the page has settled.
            timeout: In ms.
        """
        return await self._do(Hover, {"selector": selector, "observe": observe, "timeout": timeout})

    async def scroll(
        self,
        selector: str | None = None,
        *,
        direction: Literal["up", "down", "left", "right"] | None = None,
        pixels: int | None = None,
        observe: Literal["none", "change", "outline"] | None = None,
        timeout: int | None = None,
    ) -> Acted:
        """Scroll an element into view, or the page or what is inside an element in a direction.

        Args:
            selector: Alone: what comes into view. With `direction`: what is scrolled inside.
            direction: Where to.
            pixels: Most of a screen unless given.
            observe: How much to report of what it changed; `change` also waits until the page has settled.
            timeout: In ms.
        """
        return await self._do(
            Scroll,
            {"selector": selector, "direction": direction, "pixels": pixels, "observe": observe, "timeout": timeout},
        )

    async def tap_element(
        self,
        selector: str | None = None,
        *,
        x: int | None = None,
        y: int | None = None,
        count: int = 1,
        hold_ms: int | None = None,
        observe: Literal["none", "change", "outline"] | None = None,
        timeout: int | None = None,
    ) -> Acted:
        """Tap (touch) an element or a point of the screen.

        Args:
            selector: Which element: see selectors.
            x: Instead of `selector`: CSS pixels from the left of the viewport.
            y: The same from its top.
            count: 2 is a double tap.
            hold_ms: A long press.
            observe: How much to report of what it changed; `change` also waits until the page has settled.
            timeout: In ms.
        """
        return await self._do(
            TapElement,
            {
                "selector": selector,
                "x": x,
                "y": y,
                "count": count,
                "hold_ms": hold_ms,
                "observe": observe,
                "timeout": timeout,
            },
        )

    async def swipe(
        self,
        direction: Literal["up", "down", "left", "right"],
        *,
        percent: int = 60,
        duration: int = 300,
        selector: str | None = None,
        observe: Literal["none", "change", "outline"] | None = None,
        timeout: int | None = None,
    ) -> Acted:
        """Swipe in an app; direction is the finger's: up shows what is further down.

        Args:
            direction: Where to.
            percent: How far, of the length of the screen or element.
            duration: In ms.
            selector: Which element: see selectors.
            observe: How much to report of what it changed; `change` also waits until the page has settled.
            timeout: In ms.
        """
        return await self._do(
            Swipe,
            {
                "direction": direction,
                "percent": percent,
                "duration": duration,
                "selector": selector,
                "observe": observe,
                "timeout": timeout,
            },
        )

    async def pinch(
        self,
        scale: float,
        selector: str | None = None,
        *,
        observe: Literal["none", "change", "outline"] | None = None,
        timeout: int | None = None,
    ) -> Acted:
        """Zoom with two fingers in an app: a scale above 1 zooms in, one below 1 out.

        Args:
            scale: Such as 2 or 0.5.
            selector: Which element: see selectors.
            observe: How much to report of what it changed; `change` also waits until the page has settled.
            timeout: In ms.
        """
        return await self._do(Pinch, {"scale": scale, "selector": selector, "observe": observe, "timeout": timeout})

    async def drag_and_drop(
        self,
        source: str,
        target: str | None = None,
        *,
        x: int | None = None,
        y: int | None = None,
        observe: Literal["none", "change", "outline"] | None = None,
        timeout: int | None = None,
    ) -> Acted:
        """Drag an element and drop it on another or at a point: lists, sliders, drop zones.

        Args:
            source: What to drag: see selectors.
            target: A selector: what to drop it on; or give `x` and `y`.
            x: Where to drop it: CSS pixels from the left of the viewport.
            y: The same from its top.
            observe: How much to report of what it changed; `change` also waits until the page has settled.
            timeout: In ms.
        """
        return await self._do(
            DragAndDrop, {"source": source, "target": target, "x": x, "y": y, "observe": observe, "timeout": timeout}
        )

    async def set_value(
        self,
        selector: str,
        value: str,
        *,
        submit: bool = False,
        keystrokes: bool = False,
        observe: Literal["none", "change", "outline"] | None = None,
        timeout: int | None = None,
    ) -> Acted:
        """Fill in (type, input, enter text) a field or editor, or set a checkbox, radio, select, date, color or slider.

        Replaces what is there; checkboxes take true or false, dates ISO format.

        Args:
            selector: Which element: see selectors.
            value: What it shall hold, such as a text, `true` or a date: see field.
            submit: Press Enter afterwards.
            keystrokes: Key events for each character.
            observe: How much to report of what it changed; `change` also waits until the page has settled.
            timeout: In ms.
        """
        return await self._do(
            SetValue,
            {
                "selector": selector,
                "value": value,
                "submit": submit,
                "keystrokes": keystrokes,
                "observe": observe,
                "timeout": timeout,
            },
        )

    async def press_keys(
        self,
        keys: str,
        selector: str | None = None,
        *,
        observe: Literal["none", "change", "outline"] | None = None,
        timeout: int | None = None,
    ) -> Acted:
        """Press keys such as Enter, Control+A or Tab Tab Enter; in an app also BACK and HOME.

        Args:
            keys: Keys joined by `+` are held together; a space separates what is pressed one after the other.
            selector: What has the focus first.
            observe: How much to report of what it changed; `change` also waits until the page has settled.
            timeout: In ms.
        """
        return await self._do(PressKeys, {"keys": keys, "selector": selector, "observe": observe, "timeout": timeout})

    async def select_option(
        self,
        selector: str,
        values: Sequence[str],
        *,
        observe: Literal["none", "change", "outline"] | None = None,
        timeout: int | None = None,
    ) -> Acted:
        """Choose exactly these options of a select (dropdown, list), by value, label or index.

        Args:
            selector: Which element: see selectors.
            values: All that shall be chosen, by value, label or index from 0; `[]` clears a list of several.
            observe: How much to report of what it changed; `change` also waits until the page has settled.
            timeout: In ms.
        """
        return await self._do(
            SelectOption, {"selector": selector, "values": values, "observe": observe, "timeout": timeout}
        )

    async def upload_files(
        self,
        selector: str,
        paths: Sequence[str],
        *,
        observe: Literal["none", "change", "outline"] | None = None,
        timeout: int | None = None,
    ) -> Acted:
        """Put files of this machine into a file input, or that of a button or label.

        Args:
            selector: Which element: see selectors.
            paths: Files on this machine, sent along to a remote end far away.
            observe: How much to report of what it changed; `change` also waits until the page has settled.
            timeout: In ms.
        """
        return await self._do(
            UploadFiles, {"selector": selector, "paths": paths, "observe": observe, "timeout": timeout}
        )

    async def wait_for(
        self,
        selector: str | None = None,
        *,
        state: Literal["visible", "hidden", "enabled", "gone"] | None = None,
        text: str | None = None,
        url: str | None = None,
        title: str | None = None,
        timeout: int | None = None,
    ) -> Met:
        """Wait until an element is visible, hidden, enabled or gone, or until text, URL or title are there.

        Args:
            selector: Which element: see selectors.
            state: `visible` unless given.
            text: Contained in the page, or in the element.
            url: A glob such as **/cart*.
            title: The whole title, or a glob.
            timeout: In ms.
        """
        return await self._do(
            WaitFor,
            {"selector": selector, "state": state, "text": text, "url": url, "title_": title, "timeout": timeout},
        )

    async def expect(
        self,
        selector: str | None = None,
        *,
        visible: bool | None = None,
        text: str | None = None,
        contains_text: str | None = None,
        value: str | None = None,
        enabled: bool | None = None,
        checked: bool | None = None,
        count: int | None = None,
        attribute: Attribute | Mapping[str, Any] | None = None,
        url: str | None = None,
        title: str | None = None,
        not_: bool = False,
        timeout: int | None = None,
    ) -> Met:
        """Check (assert) what an element or the page shows; retries until timeout.

        Args:
            selector: Which element: see selectors.
            visible: Whether it is visible.
            text: Its text, exact but for white space.
            contains_text: Part of its text.
            value: The value of the field.
            enabled: Whether it is enabled.
            checked: Whether it is checked.
            count: How many elements the selector finds.
            attribute: An attribute that must be there, or have this value.
            url: A glob such as `**/cart*`.
            title: The whole title, or a glob.
            not_: It must not hold.
            timeout: In ms.
        """
        return await self._do(
            Expect,
            {
                "selector": selector,
                "visible": visible,
                "text": text,
                "contains_text": contains_text,
                "value": value,
                "enabled": enabled,
                "checked": checked,
                "count": count,
                "attribute": attribute,
                "url": url,
                "title_": title,
                "not_": not_,
                "timeout": timeout,
            },
        )

    async def execute_script(self, script: str, *, args: Sequence[Any] = (), timeout: int | None = None) -> Value:
        """Run JavaScript in the page (a function body; return, await), or in an app a command such as mobile: shell.

        Use it for what no other tool does.

        Args:
            script: A function body.
            args: {"ref": "e12"} or {"selector": …} is an element.
            timeout: In ms.
        """
        return await self._do(ExecuteScript, {"script": script, "args": args, "timeout": timeout})

    async def run_script(self, script: str, *, timeout: int | None = None) -> ScriptResult:
        """Run JavaScript that acts itself: await page.clickElement({selector}), loops, conditions, vars that last.

        Globals live on between calls.

        Args:
            script: Statements, with `return` and `await` at the top: see scripts.
            timeout: In ms.
        """
        return await self._do(RunScript, {"script": script, "timeout": timeout})

    async def get_console(
        self,
        *,
        level: Literal["debug", "info", "warn", "error"] = "debug",
        since: float = 0,
        limit: int = 100,
        clear: bool = False,
    ) -> ConsoleLog:
        """Read what pages wrote to the console and errors that nobody caught; of an app, its device's log.

        Args:
            level: Messages of this level and of graver ones.
            since: Only what came or changed later: `until` of an earlier answer, or seconds since 1970.
            limit: The newest ones are shown.
            clear: Forget all of it afterwards.
        """
        return await self._do(GetConsole, {"level": level, "since": since, "limit": limit, "clear": clear})

    async def get_network(
        self,
        url: str | None = None,
        status: str | None = None,
        *,
        since: float = 0,
        limit: int = 100,
        clear: bool = False,
    ) -> NetworkLog:
        """List what pages asked for over the network, and what came of it.

        Args:
            url: A part of the address, or a glob with `*`.
            status: 404, 4xx, >=400, failed, pending.
            since: Only what came or changed later: `until` of an earlier answer, or seconds since 1970.
            limit: The newest ones are shown.
            clear: Forget all of it afterwards.
        """
        return await self._do(
            GetNetwork, {"url": url, "status": status, "since": since, "limit": limit, "clear": clear}
        )

    async def handle_dialog(self, *, accept: bool, prompt_text: str | None = None, timeout: int | None = None) -> Acted:
        """Answer the open alert, confirm or prompt dialog; with none open, the next one.

        Args:
            accept: true: OK. false: Cancel.
            prompt_text: What to write into a prompt.
            timeout: In ms.
        """
        return await self._do(HandleDialog, {"accept": accept, "prompt_text": prompt_text, "timeout": timeout})

    async def set_policy(
        self,
        *,
        dialogs: Literal["raise", "accept", "dismiss", "manual"] | None = None,
        permissions: Literal["raise", "allow", "deny", "manual"] | None = None,
        notifications: Literal["raise", "allow", "deny", "manual"] | None = None,
        file_pickers: Literal["raise", "deny", "manual"] | None = None,
        downloads: Literal["raise", "allow", "deny"] | None = None,
        new_tabs: Literal["raise", "allow", "deny"] | None = None,
    ) -> InForce:
        """Decide on what pages do unasked: raise (handled and reported), allow, deny, manual.

        Args:
            dialogs: Alerts, confirms and prompts: policies.
            permissions: Place, camera, microphone, clipboard and the like.
            notifications: The permission to show them.
            file_pickers: Windows in which people choose files.
            downloads: Files that a page has the browser save.
            new_tabs: Tabs that a page opens.
        """
        return await self._do(
            SetPolicy,
            {
                "dialogs": dialogs,
                "permissions": permissions,
                "notifications": notifications,
                "file_pickers": file_pickers,
                "downloads": downloads,
                "new_tabs": new_tabs,
            },
        )

    async def tabs(
        self, action: Literal["list", "new", "select", "close"], tab: str | None = None, *, url: str | None = None
    ) -> TabList:
        """List tabs, open a new one, select (switch to) or close one.

        A new one becomes current.

        Args:
            action: What to do.
            tab: Such as t2.
            url: What a new tab opens.
        """
        return await self._do(Tabs, {"action": action, "tab": tab, "url": url})

    async def switch_frame(self, selector: str | None = None, *, timeout: int | None = None) -> FrameEntered:
        """Take later selectors inside a frame (iframe); without selector at the top again.

        Args:
            selector: The frame; the top of the page unless given.
            timeout: In ms.
        """
        return await self._do(SwitchFrame, {"selector": selector, "timeout": timeout})

    async def set_viewport(
        self,
        width: int,
        height: int,
        *,
        observe: Literal["none", "change", "outline"] | None = None,
        timeout: int | None = None,
    ) -> Acted:
        """Resize the page area, in CSS pixels; tells what changed.

        Args:
            width: In CSS pixels.
            height: In CSS pixels.
            observe: How much to report of what it changed; `change` also waits until the page has settled.
            timeout: In ms.
        """
        return await self._do(SetViewport, {"width": width, "height": height, "observe": observe, "timeout": timeout})

    async def emulate(
        self,
        device: str | None = None,
        *,
        geolocation: Geolocation | Mapping[str, Any] | None = None,
        timezone: str | None = None,
        locale: str | None = None,
        color_scheme: Literal["light", "dark", "none"] | None = None,
        offline: bool | None = None,
        observe: Literal["none", "change", "outline"] | None = None,
    ) -> Emulated:
        """Pretend to be a device, elsewhere, offline or dark; 'none' resets (geolocation: {}).

        Args:
            device: What pages take the browser for: devices.
            geolocation: Where pages are told that they are, in degrees; `accuracy` in metres. `{}`: as it is.
            timezone: Such as Europe/Berlin.
            locale: Such as de-DE.
            color_scheme: The colours that pages are asked for (`prefers-color-scheme`).
            offline: Let no request leave the browser.
            observe: How much to report of what it changed; `change` also waits until the page has settled.
        """
        return await self._do(
            Emulate,
            {
                "device": device,
                "geolocation": geolocation,
                "timezone": timezone,
                "locale": locale,
                "color_scheme": color_scheme,
                "offline": offline,
                "observe": observe,
            },
        )

    async def cookies(
        self,
        action: Literal["get", "set", "delete", "clear"],
        name: str | None = None,
        *,
        value: str | None = None,
        domain: str | None = None,
        path: str | None = None,
        secure: bool | None = None,
        http_only: bool | None = None,
        same_site: Literal["Strict", "Lax", "None"] | None = None,
        expiry: int | None = None,
    ) -> CookieList:
        """Get, set, delete or clear the cookies of the current page's site; navigate there first.

        Args:
            action: What to do.
            name: `get` answers with all unless it is given.
            value: Any text without semicolons and line breaks.
            domain: The page's own unless given.
            path: Where on the site it counts; everywhere unless given.
            secure: Only over https.
            http_only: Scripts of the page cannot read it.
            same_site: Whether other sites' pages send it.
            expiry: Seconds since 1970.
        """
        return await self._do(
            Cookies,
            {
                "action": action,
                "name": name,
                "value": value,
                "domain": domain,
                "path": path,
                "secure": secure,
                "http_only": http_only,
                "same_site": same_site,
                "expiry": expiry,
            },
        )

    async def save_storage_state(self, path: str | None = None) -> StorageSaved:
        """Save the session's login (cookies, local storage) as a file, which a start takes as storageState.

        Args:
            path: Where to save it; below `home` unless given.
        """
        return await self._do(SaveStorageState, {"path": path})

    async def route(
        self,
        action: Literal["block", "fulfil", "delay", "clear"],
        url: str | None = None,
        *,
        method: str | None = None,
        status: int | None = None,
        headers: Mapping[str, str] | None = None,
        body: str | None = None,
        path: str | None = None,
        content_type: str | None = None,
        ms: int | None = None,
    ) -> Routes:
        """Block, fulfil (mock) or delay requests of all the session's pages whose URL matches, until cleared.

        Args:
            action: What to do.
            url: A glob such as `**/api/*`; `clear` ends all rules unless it is given.
            method: Only requests of this method, such as `POST`.
            status: Of the answer; 200 unless given.
            headers: Of the answer.
            body: What is answered; nothing unless given.
            path: Or a file.
            content_type: Of the body; guessed from the file's name, or from how the body begins, unless given.
            ms: How long requests wait.
        """
        return await self._do(
            Route,
            {
                "action": action,
                "url": url,
                "method": method,
                "status": status,
                "headers": headers,
                "body": body,
                "path": path,
                "content_type": content_type,
                "ms": ms,
            },
        )

    async def har(
        self,
        action: Literal["start", "flush", "stop", "replay"],
        path: str | None = None,
        *,
        not_found: Literal["continue", "abort"] = "continue",
    ) -> Archive:
        """Record network traffic into a HAR file, or replay one: requests are answered from it.

        Args:
            action: `flush` writes what there is so far; `stop` ends replays, too.
            path: The HAR file; one below `home` unless given. `replay` needs it.
            not_found: What becomes of requests that the file has no answer to.
        """
        return await self._do(Har, {"action": action, "path": path, "not_found": not_found})

    async def switch_context(self, context: str | None = None, *, timeout: int | None = None) -> Contexts:
        """Go into an app's web view (WEBVIEW…), where browser tools work, or back to NATIVE_APP; no context: list them.

        Args:
            context: Its name or how this begins; they are listed unless it is given.
            timeout: In ms.
        """
        return await self._do(SwitchContext, {"context": context, "timeout": timeout})

    async def manage_app(
        self,
        action: Literal["activate", "terminate", "install", "remove", "background", "state", "list"],
        app: str | None = None,
        *,
        seconds: float | None = None,
        observe: Literal["none", "change", "outline"] | None = None,
    ) -> AppManaged:
        """Open (launch, activate), close (terminate), install or remove an app of the device, or ask for its state.

        Args:
            action: What to do.
            app: Bundle id or package; install: path or URL.
            seconds: How long it stays in the background.
            observe: How much to report of what it changed; `change` also waits until the page has settled.
        """
        return await self._do(ManageApp, {"action": action, "app": app, "seconds": seconds, "observe": observe})

    async def manage_device(
        self,
        action: Literal[
            "rotate", "lock", "unlock", "shake", "hide_keyboard", "press", "open_url", "set_location", "clipboard"
        ],
        value: str | None = None,
        *,
        observe: Literal["none", "change", "outline"] | None = None,
    ) -> DeviceManaged:
        """Rotate, lock, unlock or shake the device, hide its keyboard, press a button, open a deep link.

        Args:
            action: What to do.
            value: portrait, landscape; a key such as BACK; a URL; lat,lon; clipboard text.
            observe: How much to report of what it changed; `change` also waits until the page has settled.
        """
        return await self._do(ManageDevice, {"action": action, "value": value, "observe": observe})


class BlockingSessionMethods(ABC):
    """What can be done in a session, without `await`."""

    @abstractmethod
    def _do(self, declared: type[Action[ResultT]], fields: Mapping[str, Any]) -> ResultT:
        """Read the fields as this action, and do it."""

    @abstractmethod
    def _wait(self, method: str, **arguments: Any) -> Any:
        """Call a method of the async session, and wait for its answer."""

    def navigate(
        self,
        url: str | None = None,
        *,
        history: Literal["back", "forward", "reload"] | None = None,
        wait_until: Literal["load", "none", "interactive"] = "load",
        observe: Literal["none", "change", "outline"] | None = None,
        timeout: int | None = None,
    ) -> Acted:
        """Open a URL in the browser, or go back, forward or reload.

        Args:
            url: An absolute URL.
            history: Instead of `url`.
            wait_until: How far the page must have loaded.
            observe: How much to report of what it changed; `change` also waits until the page has settled.
            timeout: In ms.
        """
        return self._do(
            Navigate, {"url": url, "history": history, "wait_until": wait_until, "observe": observe, "timeout": timeout}
        )

    def get_visible_elements(
        self,
        *,
        scope: Literal["viewport", "page"] = "viewport",
        root: str | None = None,
        query: str | None = None,
        roles: Sequence[str] = (),
        limit: int = 200,
        offset: int = 0,
        format: Literal["outline", "json"] = "outline",
    ) -> Elements:
        """List what the page shows, with refs to click and fill in: buttons, links, fields, headings, text.

        Call it first.

        Args:
            scope: What is visible now, or the whole page.
            root: Selector.
            query: Text to find.
            roles: Only elements of these roles.
            limit: At most so many.
            offset: Leave out so many.
            format: The form of the result.
        """
        return self._do(
            GetVisibleElements,
            {
                "scope": scope,
                "root": root,
                "query": query,
                "roles": roles,
                "limit": limit,
                "offset": offset,
                "format": format,
            },
        )

    def get_text(self, selector: str | None = None) -> PageText:
        """Read the visible text of the page, or of one element.

        Args:
            selector: Which element: see selectors.
        """
        return self._do(GetText, {"selector": selector})

    def get_page_source(self, selector: str | None = None) -> PageSource:
        """Read the HTML of the page, or of one element.

        Args:
            selector: Which element: see selectors.
        """
        return self._do(GetPageSource, {"selector": selector})

    def take_screenshot(
        self,
        selector: str | None = None,
        *,
        full_page: bool = False,
        marks: bool = False,
        format: Literal["png", "jpeg"] = "png",
        path: str | None = None,
    ) -> Screenshot:
        """Take a picture of what is shown, of an element or the whole page; saved as a file, too.

        To act on the page use get_visible_elements.

        Args:
            selector: Only this element.
            full_page: The whole page, not only what is seen of it.
            marks: Draw the refs on it.
            format: That of the image and of the file.
            path: Where to save it.
        """
        return self._do(
            TakeScreenshot,
            {"selector": selector, "full_page": full_page, "marks": marks, "format": format, "path": path},
        )

    def click_element(
        self,
        selector: str,
        *,
        button: Literal["left", "middle", "right"] = "left",
        count: int = 1,
        modifiers: Sequence[Literal["Alt", "Control", "Meta", "Shift"]] = (),
        observe: Literal["none", "change", "outline"] | None = None,
        timeout: int | None = None,
    ) -> Acted:
        """Click a button, link or any element; in an app it is a tap.

        Waits until it can be clicked.

        Args:
            selector: Which element: see selectors.
            button: The mouse button.
            count: 2 is a double click.
            modifiers: Keys held down meanwhile.
            observe: How much to report of what it changed; `change` also waits until the page has settled.
            timeout: In ms.
        """
        return self._do(
            ClickElement,
            {
                "selector": selector,
                "button": button,
                "count": count,
                "modifiers": modifiers,
                "observe": observe,
                "timeout": timeout,
            },
        )

    def hover(
        self, selector: str, *, observe: Literal["none", "change", "outline"] | None = None, timeout: int | None = None
    ) -> Acted:
        """Move the mouse over an element, to open a menu or tooltip.

        Args:
            selector: Which element: see selectors.
            observe: How much to report of what it changed; `change` also waits until the page has settled.
            timeout: In ms.
        """
        return self._do(Hover, {"selector": selector, "observe": observe, "timeout": timeout})

    def scroll(
        self,
        selector: str | None = None,
        *,
        direction: Literal["up", "down", "left", "right"] | None = None,
        pixels: int | None = None,
        observe: Literal["none", "change", "outline"] | None = None,
        timeout: int | None = None,
    ) -> Acted:
        """Scroll an element into view, or the page or what is inside an element in a direction.

        Args:
            selector: Alone: what comes into view. With `direction`: what is scrolled inside.
            direction: Where to.
            pixels: Most of a screen unless given.
            observe: How much to report of what it changed; `change` also waits until the page has settled.
            timeout: In ms.
        """
        return self._do(
            Scroll,
            {"selector": selector, "direction": direction, "pixels": pixels, "observe": observe, "timeout": timeout},
        )

    def tap_element(
        self,
        selector: str | None = None,
        *,
        x: int | None = None,
        y: int | None = None,
        count: int = 1,
        hold_ms: int | None = None,
        observe: Literal["none", "change", "outline"] | None = None,
        timeout: int | None = None,
    ) -> Acted:
        """Tap (touch) an element or a point of the screen.

        Args:
            selector: Which element: see selectors.
            x: Instead of `selector`: CSS pixels from the left of the viewport.
            y: The same from its top.
            count: 2 is a double tap.
            hold_ms: A long press.
            observe: How much to report of what it changed; `change` also waits until the page has settled.
            timeout: In ms.
        """
        return self._do(
            TapElement,
            {
                "selector": selector,
                "x": x,
                "y": y,
                "count": count,
                "hold_ms": hold_ms,
                "observe": observe,
                "timeout": timeout,
            },
        )

    def swipe(
        self,
        direction: Literal["up", "down", "left", "right"],
        *,
        percent: int = 60,
        duration: int = 300,
        selector: str | None = None,
        observe: Literal["none", "change", "outline"] | None = None,
        timeout: int | None = None,
    ) -> Acted:
        """Swipe in an app; direction is the finger's: up shows what is further down.

        Args:
            direction: Where to.
            percent: How far, of the length of the screen or element.
            duration: In ms.
            selector: Which element: see selectors.
            observe: How much to report of what it changed; `change` also waits until the page has settled.
            timeout: In ms.
        """
        return self._do(
            Swipe,
            {
                "direction": direction,
                "percent": percent,
                "duration": duration,
                "selector": selector,
                "observe": observe,
                "timeout": timeout,
            },
        )

    def pinch(
        self,
        scale: float,
        selector: str | None = None,
        *,
        observe: Literal["none", "change", "outline"] | None = None,
        timeout: int | None = None,
    ) -> Acted:
        """Zoom with two fingers in an app: a scale above 1 zooms in, one below 1 out.

        Args:
            scale: Such as 2 or 0.5.
            selector: Which element: see selectors.
            observe: How much to report of what it changed; `change` also waits until the page has settled.
            timeout: In ms.
        """
        return self._do(Pinch, {"scale": scale, "selector": selector, "observe": observe, "timeout": timeout})

    def drag_and_drop(
        self,
        source: str,
        target: str | None = None,
        *,
        x: int | None = None,
        y: int | None = None,
        observe: Literal["none", "change", "outline"] | None = None,
        timeout: int | None = None,
    ) -> Acted:
        """Drag an element and drop it on another or at a point: lists, sliders, drop zones.

        Args:
            source: What to drag: see selectors.
            target: A selector: what to drop it on; or give `x` and `y`.
            x: Where to drop it: CSS pixels from the left of the viewport.
            y: The same from its top.
            observe: How much to report of what it changed; `change` also waits until the page has settled.
            timeout: In ms.
        """
        return self._do(
            DragAndDrop, {"source": source, "target": target, "x": x, "y": y, "observe": observe, "timeout": timeout}
        )

    def set_value(
        self,
        selector: str,
        value: str,
        *,
        submit: bool = False,
        keystrokes: bool = False,
        observe: Literal["none", "change", "outline"] | None = None,
        timeout: int | None = None,
    ) -> Acted:
        """Fill in (type, input, enter text) a field or editor, or set a checkbox, radio, select, date, color or slider.

        Replaces what is there; checkboxes take true or false, dates ISO format.

        Args:
            selector: Which element: see selectors.
            value: What it shall hold, such as a text, `true` or a date: see field.
            submit: Press Enter afterwards.
            keystrokes: Key events for each character.
            observe: How much to report of what it changed; `change` also waits until the page has settled.
            timeout: In ms.
        """
        return self._do(
            SetValue,
            {
                "selector": selector,
                "value": value,
                "submit": submit,
                "keystrokes": keystrokes,
                "observe": observe,
                "timeout": timeout,
            },
        )

    def press_keys(
        self,
        keys: str,
        selector: str | None = None,
        *,
        observe: Literal["none", "change", "outline"] | None = None,
        timeout: int | None = None,
    ) -> Acted:
        """Press keys such as Enter, Control+A or Tab Tab Enter; in an app also BACK and HOME.

        Args:
            keys: Keys joined by `+` are held together; a space separates what is pressed one after the other.
            selector: What has the focus first.
            observe: How much to report of what it changed; `change` also waits until the page has settled.
            timeout: In ms.
        """
        return self._do(PressKeys, {"keys": keys, "selector": selector, "observe": observe, "timeout": timeout})

    def select_option(
        self,
        selector: str,
        values: Sequence[str],
        *,
        observe: Literal["none", "change", "outline"] | None = None,
        timeout: int | None = None,
    ) -> Acted:
        """Choose exactly these options of a select (dropdown, list), by value, label or index.

        Args:
            selector: Which element: see selectors.
            values: All that shall be chosen, by value, label or index from 0; `[]` clears a list of several.
            observe: How much to report of what it changed; `change` also waits until the page has settled.
            timeout: In ms.
        """
        return self._do(SelectOption, {"selector": selector, "values": values, "observe": observe, "timeout": timeout})

    def upload_files(
        self,
        selector: str,
        paths: Sequence[str],
        *,
        observe: Literal["none", "change", "outline"] | None = None,
        timeout: int | None = None,
    ) -> Acted:
        """Put files of this machine into a file input, or that of a button or label.

        Args:
            selector: Which element: see selectors.
            paths: Files on this machine, sent along to a remote end far away.
            observe: How much to report of what it changed; `change` also waits until the page has settled.
            timeout: In ms.
        """
        return self._do(UploadFiles, {"selector": selector, "paths": paths, "observe": observe, "timeout": timeout})

    def wait_for(
        self,
        selector: str | None = None,
        *,
        state: Literal["visible", "hidden", "enabled", "gone"] | None = None,
        text: str | None = None,
        url: str | None = None,
        title: str | None = None,
        timeout: int | None = None,
    ) -> Met:
        """Wait until an element is visible, hidden, enabled or gone, or until text, URL or title are there.

        Args:
            selector: Which element: see selectors.
            state: `visible` unless given.
            text: Contained in the page, or in the element.
            url: A glob such as **/cart*.
            title: The whole title, or a glob.
            timeout: In ms.
        """
        return self._do(
            WaitFor,
            {"selector": selector, "state": state, "text": text, "url": url, "title_": title, "timeout": timeout},
        )

    def expect(
        self,
        selector: str | None = None,
        *,
        visible: bool | None = None,
        text: str | None = None,
        contains_text: str | None = None,
        value: str | None = None,
        enabled: bool | None = None,
        checked: bool | None = None,
        count: int | None = None,
        attribute: Attribute | Mapping[str, Any] | None = None,
        url: str | None = None,
        title: str | None = None,
        not_: bool = False,
        timeout: int | None = None,
    ) -> Met:
        """Check (assert) what an element or the page shows; retries until timeout.

        Args:
            selector: Which element: see selectors.
            visible: Whether it is visible.
            text: Its text, exact but for white space.
            contains_text: Part of its text.
            value: The value of the field.
            enabled: Whether it is enabled.
            checked: Whether it is checked.
            count: How many elements the selector finds.
            attribute: An attribute that must be there, or have this value.
            url: A glob such as `**/cart*`.
            title: The whole title, or a glob.
            not_: It must not hold.
            timeout: In ms.
        """
        return self._do(
            Expect,
            {
                "selector": selector,
                "visible": visible,
                "text": text,
                "contains_text": contains_text,
                "value": value,
                "enabled": enabled,
                "checked": checked,
                "count": count,
                "attribute": attribute,
                "url": url,
                "title_": title,
                "not_": not_,
                "timeout": timeout,
            },
        )

    def execute_script(self, script: str, *, args: Sequence[Any] = (), timeout: int | None = None) -> Value:
        """Run JavaScript in the page (a function body; return, await), or in an app a command such as mobile: shell.

        Use it for what no other tool does.

        Args:
            script: A function body.
            args: {"ref": "e12"} or {"selector": …} is an element.
            timeout: In ms.
        """
        return self._do(ExecuteScript, {"script": script, "args": args, "timeout": timeout})

    def run_script(self, script: str, *, timeout: int | None = None) -> ScriptResult:
        """Run JavaScript that acts itself: await page.clickElement({selector}), loops, conditions, vars that last.

        Globals live on between calls.

        Args:
            script: Statements, with `return` and `await` at the top: see scripts.
            timeout: In ms.
        """
        return self._do(RunScript, {"script": script, "timeout": timeout})

    def get_console(
        self,
        *,
        level: Literal["debug", "info", "warn", "error"] = "debug",
        since: float = 0,
        limit: int = 100,
        clear: bool = False,
    ) -> ConsoleLog:
        """Read what pages wrote to the console and errors that nobody caught; of an app, its device's log.

        Args:
            level: Messages of this level and of graver ones.
            since: Only what came or changed later: `until` of an earlier answer, or seconds since 1970.
            limit: The newest ones are shown.
            clear: Forget all of it afterwards.
        """
        return self._do(GetConsole, {"level": level, "since": since, "limit": limit, "clear": clear})

    def get_network(
        self,
        url: str | None = None,
        status: str | None = None,
        *,
        since: float = 0,
        limit: int = 100,
        clear: bool = False,
    ) -> NetworkLog:
        """List what pages asked for over the network, and what came of it.

        Args:
            url: A part of the address, or a glob with `*`.
            status: 404, 4xx, >=400, failed, pending.
            since: Only what came or changed later: `until` of an earlier answer, or seconds since 1970.
            limit: The newest ones are shown.
            clear: Forget all of it afterwards.
        """
        return self._do(GetNetwork, {"url": url, "status": status, "since": since, "limit": limit, "clear": clear})

    def handle_dialog(self, *, accept: bool, prompt_text: str | None = None, timeout: int | None = None) -> Acted:
        """Answer the open alert, confirm or prompt dialog; with none open, the next one.

        Args:
            accept: true: OK. false: Cancel.
            prompt_text: What to write into a prompt.
            timeout: In ms.
        """
        return self._do(HandleDialog, {"accept": accept, "prompt_text": prompt_text, "timeout": timeout})

    def set_policy(
        self,
        *,
        dialogs: Literal["raise", "accept", "dismiss", "manual"] | None = None,
        permissions: Literal["raise", "allow", "deny", "manual"] | None = None,
        notifications: Literal["raise", "allow", "deny", "manual"] | None = None,
        file_pickers: Literal["raise", "deny", "manual"] | None = None,
        downloads: Literal["raise", "allow", "deny"] | None = None,
        new_tabs: Literal["raise", "allow", "deny"] | None = None,
    ) -> InForce:
        """Decide on what pages do unasked: raise (handled and reported), allow, deny, manual.

        Args:
            dialogs: Alerts, confirms and prompts: policies.
            permissions: Place, camera, microphone, clipboard and the like.
            notifications: The permission to show them.
            file_pickers: Windows in which people choose files.
            downloads: Files that a page has the browser save.
            new_tabs: Tabs that a page opens.
        """
        return self._do(
            SetPolicy,
            {
                "dialogs": dialogs,
                "permissions": permissions,
                "notifications": notifications,
                "file_pickers": file_pickers,
                "downloads": downloads,
                "new_tabs": new_tabs,
            },
        )

    def tabs(
        self, action: Literal["list", "new", "select", "close"], tab: str | None = None, *, url: str | None = None
    ) -> TabList:
        """List tabs, open a new one, select (switch to) or close one.

        A new one becomes current.

        Args:
            action: What to do.
            tab: Such as t2.
            url: What a new tab opens.
        """
        return self._do(Tabs, {"action": action, "tab": tab, "url": url})

    def switch_frame(self, selector: str | None = None, *, timeout: int | None = None) -> FrameEntered:
        """Take later selectors inside a frame (iframe); without selector at the top again.

        Args:
            selector: The frame; the top of the page unless given.
            timeout: In ms.
        """
        return self._do(SwitchFrame, {"selector": selector, "timeout": timeout})

    def set_viewport(
        self,
        width: int,
        height: int,
        *,
        observe: Literal["none", "change", "outline"] | None = None,
        timeout: int | None = None,
    ) -> Acted:
        """Resize the page area, in CSS pixels; tells what changed.

        Args:
            width: In CSS pixels.
            height: In CSS pixels.
            observe: How much to report of what it changed; `change` also waits until the page has settled.
            timeout: In ms.
        """
        return self._do(SetViewport, {"width": width, "height": height, "observe": observe, "timeout": timeout})

    def emulate(
        self,
        device: str | None = None,
        *,
        geolocation: Geolocation | Mapping[str, Any] | None = None,
        timezone: str | None = None,
        locale: str | None = None,
        color_scheme: Literal["light", "dark", "none"] | None = None,
        offline: bool | None = None,
        observe: Literal["none", "change", "outline"] | None = None,
    ) -> Emulated:
        """Pretend to be a device, elsewhere, offline or dark; 'none' resets (geolocation: {}).

        Args:
            device: What pages take the browser for: devices.
            geolocation: Where pages are told that they are, in degrees; `accuracy` in metres. `{}`: as it is.
            timezone: Such as Europe/Berlin.
            locale: Such as de-DE.
            color_scheme: The colours that pages are asked for (`prefers-color-scheme`).
            offline: Let no request leave the browser.
            observe: How much to report of what it changed; `change` also waits until the page has settled.
        """
        return self._do(
            Emulate,
            {
                "device": device,
                "geolocation": geolocation,
                "timezone": timezone,
                "locale": locale,
                "color_scheme": color_scheme,
                "offline": offline,
                "observe": observe,
            },
        )

    def cookies(
        self,
        action: Literal["get", "set", "delete", "clear"],
        name: str | None = None,
        *,
        value: str | None = None,
        domain: str | None = None,
        path: str | None = None,
        secure: bool | None = None,
        http_only: bool | None = None,
        same_site: Literal["Strict", "Lax", "None"] | None = None,
        expiry: int | None = None,
    ) -> CookieList:
        """Get, set, delete or clear the cookies of the current page's site; navigate there first.

        Args:
            action: What to do.
            name: `get` answers with all unless it is given.
            value: Any text without semicolons and line breaks.
            domain: The page's own unless given.
            path: Where on the site it counts; everywhere unless given.
            secure: Only over https.
            http_only: Scripts of the page cannot read it.
            same_site: Whether other sites' pages send it.
            expiry: Seconds since 1970.
        """
        return self._do(
            Cookies,
            {
                "action": action,
                "name": name,
                "value": value,
                "domain": domain,
                "path": path,
                "secure": secure,
                "http_only": http_only,
                "same_site": same_site,
                "expiry": expiry,
            },
        )

    def save_storage_state(self, path: str | None = None) -> StorageSaved:
        """Save the session's login (cookies, local storage) as a file, which a start takes as storageState.

        Args:
            path: Where to save it; below `home` unless given.
        """
        return self._do(SaveStorageState, {"path": path})

    def route(
        self,
        action: Literal["block", "fulfil", "delay", "clear"],
        url: str | None = None,
        *,
        method: str | None = None,
        status: int | None = None,
        headers: Mapping[str, str] | None = None,
        body: str | None = None,
        path: str | None = None,
        content_type: str | None = None,
        ms: int | None = None,
    ) -> Routes:
        """Block, fulfil (mock) or delay requests of all the session's pages whose URL matches, until cleared.

        Args:
            action: What to do.
            url: A glob such as `**/api/*`; `clear` ends all rules unless it is given.
            method: Only requests of this method, such as `POST`.
            status: Of the answer; 200 unless given.
            headers: Of the answer.
            body: What is answered; nothing unless given.
            path: Or a file.
            content_type: Of the body; guessed from the file's name, or from how the body begins, unless given.
            ms: How long requests wait.
        """
        return self._do(
            Route,
            {
                "action": action,
                "url": url,
                "method": method,
                "status": status,
                "headers": headers,
                "body": body,
                "path": path,
                "content_type": content_type,
                "ms": ms,
            },
        )

    def har(
        self,
        action: Literal["start", "flush", "stop", "replay"],
        path: str | None = None,
        *,
        not_found: Literal["continue", "abort"] = "continue",
    ) -> Archive:
        """Record network traffic into a HAR file, or replay one: requests are answered from it.

        Args:
            action: `flush` writes what there is so far; `stop` ends replays, too.
            path: The HAR file; one below `home` unless given. `replay` needs it.
            not_found: What becomes of requests that the file has no answer to.
        """
        return self._do(Har, {"action": action, "path": path, "not_found": not_found})

    def switch_context(self, context: str | None = None, *, timeout: int | None = None) -> Contexts:
        """Go into an app's web view (WEBVIEW…), where browser tools work, or back to NATIVE_APP; no context: list them.

        Args:
            context: Its name or how this begins; they are listed unless it is given.
            timeout: In ms.
        """
        return self._do(SwitchContext, {"context": context, "timeout": timeout})

    def manage_app(
        self,
        action: Literal["activate", "terminate", "install", "remove", "background", "state", "list"],
        app: str | None = None,
        *,
        seconds: float | None = None,
        observe: Literal["none", "change", "outline"] | None = None,
    ) -> AppManaged:
        """Open (launch, activate), close (terminate), install or remove an app of the device, or ask for its state.

        Args:
            action: What to do.
            app: Bundle id or package; install: path or URL.
            seconds: How long it stays in the background.
            observe: How much to report of what it changed; `change` also waits until the page has settled.
        """
        return self._do(ManageApp, {"action": action, "app": app, "seconds": seconds, "observe": observe})

    def manage_device(
        self,
        action: Literal[
            "rotate", "lock", "unlock", "shake", "hide_keyboard", "press", "open_url", "set_location", "clipboard"
        ],
        value: str | None = None,
        *,
        observe: Literal["none", "change", "outline"] | None = None,
    ) -> DeviceManaged:
        """Rotate, lock, unlock or shake the device, hide its keyboard, press a button, open a deep link.

        Args:
            action: What to do.
            value: portrait, landscape; a key such as BACK; a URL; lat,lon; clipboard text.
            observe: How much to report of what it changed; `change` also waits until the page has settled.
        """
        return self._do(ManageDevice, {"action": action, "value": value, "observe": observe})

    def refresh(self) -> SessionFacts:
        """Look up the facts of now, without a round trip to the browser.

        Raises:
            SessionNotFound: It is closed.
        """
        answer: SessionFacts = self._wait("refresh")
        return answer

    def perform(self, action: Action[ResultT]) -> ResultT:
        """Do one thing that is declared as an object, such as `ClickElement(selector="#save")`.

        Raises:
            OrchestratorError: Any of the codes in `orchestrator.errors`.
        """
        answer: ResultT = self._wait("perform", action=action)
        return answer

    def execute_sequence(
        self,
        actions: Steps,
        *,
        stability_ms: int = 150,
        stability_timeout_ms: int = 5000,
        timeout: int = 120000,
        verbose: bool = False,
    ) -> SequenceResult:
        """Run several steps without anything in between, and wait until the page has settled.

        Args:
            actions: The steps, in order, as mappings or as actions.
            stability_ms: How long nothing may change.
            stability_timeout_ms: How long that is waited for; past it `stable` is False, which is no error.
            timeout: ms for the whole.
            verbose: Report each step, too.

        Raises:
            InvalidArgument: A step is unknown or wrong; nothing was run.
            OrchestratorError: What stopped it; `error.details["result"]` says how far it came.
        """
        answer: SequenceResult = self._wait(
            "execute_sequence",
            actions=actions,
            stability_ms=stability_ms,
            stability_timeout_ms=stability_timeout_ms,
            timeout=timeout,
            verbose=verbose,
        )
        return answer

    def close(self, *, detach: bool = False, status: Status | None = None, reason: str | None = None) -> Closed:
        """End it with all that belongs to it, or leave it alive at its remote end; one that is closed stays so.

        A cloud is told `status` (passed or failed) and `reason`; without them the session stays unmarked there.
        """
        answer: Closed = self._wait("close", detach=detach, status=status, reason=reason)
        return answer


Session = TypeVar("Session", bound=BlockingSessionMethods)
"""The handle of `orchestrator.sync`."""


class BlockingOrchestratorMethods(ABC, Generic[Session]):
    """The façade's methods, without `await`."""

    @abstractmethod
    def _wait(self, method: str, **arguments: Any) -> Any:
        """Call a method of the async façade, and wait for its answer."""

    @abstractmethod
    def _handle(self, method: str, **arguments: Any) -> Session:
        """Call a method of the async façade that gives a handle, and wait for it."""

    def shut_down(self) -> None:
        """Park or end what the caller owns, within a few seconds, and once; a visitor does neither."""
        self._wait("shut_down")

    def start(self, request: StartRequest, *, wait: bool = True) -> Row:
        """Start a session; with `wait=False` it answers at once, and later calls queue behind the start.

        Raises:
            InvalidArgument, SessionExists, SessionLimit: Nothing was launched.
            StartFailed: The remote end gave no session; nothing of it is left.
        """
        answer: Row = self._wait("start", request=request, wait=wait)
        return answer

    def attach(self, request: AttachRequest) -> Row:
        """Take in a session that was started elsewhere; closing it here leaves it alive there.

        Raises:
            SessionLost: It does not answer; nothing was recorded.
            InvalidArgument, ProviderAuth, SessionExists, SessionLimit: It was not taken in.
        """
        answer: Row = self._wait("attach", request=request)
        return answer

    def session(self, session_id: str | None = None) -> Session:
        """A handle on an open session of the namespace, whoever started it; on the current one unless given.

        Raises:
            NoSession, SessionNotFound: It is not open.
        """
        given = locals()
        del given["self"]
        return self._handle("session", **given)

    def list_sessions(self, prefix: str | None = None) -> SessionList:
        """The sessions of the namespace that are not closed, as they were last known; no round trip is made."""
        answer: SessionList = self._wait("list_sessions", prefix=prefix)
        return answer

    def set_current_session(self, session_id: str) -> Current:
        """Choose where calls without a session go, for this caller."""
        answer: Current = self._wait("set_current_session", session_id=session_id)
        return answer

    def close_session(
        self,
        session_id: str | None = None,
        *,
        detach: bool = False,
        status: Status | None = None,
        reason: str | None = None,
    ) -> Closed:
        """End a session with all that belongs to it, or leave it alive at its remote end.

        A cloud is told `status` and `reason`; without them the session stays unmarked there.
        """
        answer: Closed = self._wait("close_session", session_id=session_id, detach=detach, status=status, reason=reason)
        return answer

    def close_sessions(
        self, *, prefix: str | None = None, idle_ms: int | None = None, all: bool | None = None, detach: bool = False
    ) -> Closed:
        """End the sessions of the namespace for which every selector given holds; looked at again when it is closed.

        Raises:
            InvalidArgument: No selector was given.
        """
        answer: Closed = self._wait("close_sessions", prefix=prefix, idle_ms=idle_ms, all=all, detach=detach)
        return answer

    def close_all_sessions(self, *, detach: bool = False) -> Closed:
        """End every session that the caller owns."""
        answer: Closed = self._wait("close_all_sessions", detach=detach)
        return answer

    def perform(self, action: Action[ResultT], session_id: str | None = None) -> ResultT:
        """Do one thing in a session.

        Raises:
            OrchestratorError: Any of the codes in `orchestrator.errors`.
        """
        answer: ResultT = self._wait("perform", action=action, session_id=session_id)
        return answer

    def run_sequence(self, sequence: ExecuteSequence) -> SequenceResult:
        """Run steps in one turn of a session's lane; the whole list is checked before the first one runs."""
        answer: SequenceResult = self._wait("run_sequence", sequence=sequence)
        return answer

    def run_parallel(self, parallel: ExecuteParallel) -> ParallelResult:
        """Run one sequence a session at the same time; one that fails does not stop the others."""
        answer: ParallelResult = self._wait("run_parallel", parallel=parallel)
        return answer

    def compare(self, asked: CompareSessions) -> Comparison:
        """Look at all sessions at the same time, and say how the others differ from the first one.

        Raises:
            InvalidArgument: A session is named twice.
            OrchestratorError: One of the sessions could not be looked at; it is named.
        """
        answer: Comparison = self._wait("compare", asked=asked)
        return answer

    def start_browser(
        self,
        session_id: str | None = None,
        *,
        browser: str | None = None,
        headless: bool | None = None,
        navigation_url: str | None = None,
        capabilities: Mapping[str, Any] | None = None,
        options: Mapping[str, Any] | None = None,
        wait: bool = True,
        device: str | None = None,
        viewport: Viewport | Mapping[str, int] | None = None,
        mode: Mode | None = None,
        profile: str | None = None,
        debugger_address: str | None = None,
        args: Sequence[str] = (),
        storage_state: str | Mapping[str, Any] | None = None,
    ) -> Session:
        """Start a browser on this machine.

        Args:
            session_id: Its name, such as alice, or shop:ann for a context of the browser shop; browser-1, … unless
                given.
            browser: Such as firefox; that of the instance which is shared, or chrome, unless given.
            headless: Without a window; a setting (True) unless given.
            navigation_url: Open this URL first.
            capabilities: W3C capabilities; yours win.
            options: The provider's own options.
            wait: False: answer at once; calls on it queue until it has started.
            device: Be it for pages, such as iPhone 14 or Pixel 7: `orchestrator.presets` has them all.
            viewport: Size of the page area in CSS pixels; the device's, or 1280 x 720, unless given.
            mode: incognito, persistent or attached; incognito unless given.
            profile: Its name, for persistent.
            debugger_address: Host and port of a running Chrome, for attached.
            args: Further switches of the browser.
            storage_state: Cookies and local storage to begin with: a file that `save_storage_state` wrote, or what
                stands in it.

        Raises:
            InvalidArgument, SessionExists, SessionLimit: Nothing was launched.
            StartFailed: There is no session; nothing of it is left.
        """
        given = locals()
        del given["self"]
        return self._handle("start_browser", **given)

    def start_app_session(
        self,
        platform: str,
        session_id: str | None = None,
        *,
        app_path: str | None = None,
        app: str | None = None,
        bundle_id: str | None = None,
        app_package: str | None = None,
        app_activity: str | None = None,
        browser_name: str | None = None,
        device_name: str | None = None,
        platform_version: str | None = None,
        udid: str | None = None,
        automation_name: str | None = None,
        no_reset: bool | None = None,
        full_reset: bool | None = None,
        auto_grant_permissions: bool = True,
        auto_accept_alerts: bool | None = None,
        new_command_timeout: int | None = None,
        capabilities: Mapping[str, Any] | None = None,
        options: Mapping[str, Any] | None = None,
        wait: bool = True,
    ) -> Session:
        """Start an app, or a browser, on a device, simulator or emulator, by Appium.

        Args:
            platform: iOS or Android, in any case.
            session_id: Its name, such as ann; ios-1, android-1, … unless given.
            app_path: The app: a file or folder on this machine.
            app: The app as the Appium server finds it, such as a URL; passed on unread.
            bundle_id: iOS: an app that is installed.
            app_package: Android: an app that is installed.
            app_activity: Android: which of its activities.
            browser_name: A browser instead of an app: Chrome or Safari.
            device_name: Such as iPhone 15; it names a kind.
            platform_version: Such as 17.5.
            udid: Which device: two sessions cannot have the same one.
            automation_name: XCUITest or UiAutomator2 unless given.
            no_reset: Keep the app's data.
            full_reset: Remove the app before and after.
            auto_grant_permissions: Android: grant what the app asks for.
            auto_accept_alerts: iOS: accept what the system asks.
            new_command_timeout: Seconds without a command after which Appium ends the session; from idle_timeout
                unless given.
            capabilities: W3C capabilities; yours win.
            options: The provider's own options, such as url and wdaLocalPort.
            wait: False: answer at once; calls on it queue until it has started.

        Raises:
            InvalidArgument, SessionExists, SessionLimit: Nothing was launched.
            DeviceBusy: Another session has the device.
            StartFailed: There is no session; nothing of it is left.
        """
        given = locals()
        del given["self"]
        return self._handle("start_app_session", **given)

    def start_session(
        self,
        provider: str,
        platform: str,
        session_id: str | None = None,
        *,
        browser: str | None = None,
        browser_version: str | None = None,
        headless: bool | None = None,
        device_name: str | None = None,
        platform_version: str | None = None,
        app: str | None = None,
        navigation_url: str | None = None,
        device: str | None = None,
        mode: Mode | None = None,
        profile: str | None = None,
        debugger_address: str | None = None,
        storage_state: str | Mapping[str, Any] | None = None,
        capabilities: Mapping[str, Any] | None = None,
        options: Mapping[str, Any] | None = None,
        wait: bool = True,
    ) -> Session:
        """Start a session at a provider by its name; the other parameters are those of `start_browser`.

        Args:
            provider: local, or another installed provider.
            platform: browser, ios or android.
            session_id: Its name; browser-1, ios-1, … unless given.
            browser: Which browser; chrome unless given, and on a device none.
            browser_version: Such as 156; any unless given.
            headless: Without a window; a setting (True) unless given.
            device_name: Such as iPhone 15.
            platform_version: Such as 17.5.
            app: The app as the remote end finds it, such as a URL.
            navigation_url: Open this URL first.
            device: What a browser on a desktop is for pages, such as iPhone 14.
            mode: incognito, persistent or attached; incognito unless given.
            profile: Its name, for persistent.
            debugger_address: Host and port of a running Chrome, for attached.
            storage_state: Cookies and local storage that a browser begins with, as in `start_browser`.
            capabilities: W3C capabilities; yours win.
            options: The provider's own options.
            wait: False: answer at once; calls on it queue until it has started.

        Raises:
            InvalidArgument, Unsupported, SessionExists, SessionLimit: Nothing was launched.
            StartFailed: The remote end gave no session; nothing of it is left.
        """
        given = locals()
        del given["self"]
        return self._handle("start_session", **given)

    def attach_session(
        self,
        remote_url: str,
        remote_session_id: str,
        session_id: str | None = None,
        *,
        platform: str = "browser",
        capabilities: Mapping[str, Any] | None = None,
    ) -> Session:
        """Drive a session that was started elsewhere; closing it here leaves it alive there.

        Args:
            remote_url: The WebDriver endpoint, such as http://127.0.0.1:4444, or secret:NAME for one with a password.
            remote_session_id: The session there, as New Session answered it.
            session_id: Its name here; browser-1, … unless given.
            platform: browser, ios or android.
            capabilities: What to know about it beyond what the remote end tells.

        Raises:
            SessionLost: It does not answer; nothing was recorded.
            InvalidArgument, ProviderAuth, SessionExists, SessionLimit: It was not taken in.
        """
        given = locals()
        del given["self"]
        return self._handle("attach_session", **given)

    def compare_sessions(
        self, session_ids: Sequence[str], of: Literal["text", "elements", "screenshot"], *, ignore: Sequence[str] = ()
    ) -> Comparison:
        """Compare what sessions show; the others are compared with the first one.

        Args:
            session_ids: Two or more.
            of: What is compared.
            ignore: Selectors of what may differ.

        Raises:
            InvalidArgument: A session is named twice, or a selector is none.
            OrchestratorError: One of the sessions could not be looked at; it is named.
        """
        answer: Comparison = self._wait("compare_sessions", session_ids=session_ids, of=of, ignore=ignore)
        return answer

    def list_devices(self) -> DeviceList:
        """The devices, simulators and emulators that a start could use, and which are taken; nothing is started.

        What could not be asked is told in `warnings`.
        """
        answer: DeviceList = self._wait("list_devices")
        return answer

    def upload_app(self, provider: str, path: str, *, custom_id: str | None = None) -> UploadedApp:
        """Send an app of this machine to a cloud's storage; its `app` is what `start_session` takes there.

        Args:
            provider: Which cloud.
            path: The file on this machine.
            custom_id: A name of your own for it, where the cloud takes one; its newest upload is meant.

        Raises:
            InvalidArgument: There is no such file.
            Unsupported: The provider has no storage for apps, or no custom ids.
            ProviderAuth, ProviderFailure: It was not taken; the message says what the cloud said.
        """
        answer: UploadedApp = self._wait("upload_app", provider=provider, path=path, custom_id=custom_id)
        return answer

    def list_apps(self, provider: str, *, limit: int = 20) -> AppList:
        """The newest apps in a cloud's storage.

        Raises:
            Unsupported: The provider has no storage for apps.
            ProviderAuth, ProviderFailure: They were not told; the message says what the cloud said.
        """
        answer: AppList = self._wait("list_apps", provider=provider, limit=limit)
        return answer

    def execute_sequence(
        self,
        actions: Steps,
        session_id: str | None = None,
        *,
        stability_ms: int = 150,
        stability_timeout_ms: int = 5000,
        timeout: int = 120000,
        verbose: bool = False,
    ) -> SequenceResult:
        """Run several steps in one session, as `Session.execute_sequence` does.

        Raises:
            InvalidArgument: A step is unknown or wrong; nothing was run.
            OrchestratorError: What stopped it; `error.details["result"]` says how far it came.
        """
        answer: SequenceResult = self._wait(
            "execute_sequence",
            actions=actions,
            session_id=session_id,
            stability_ms=stability_ms,
            stability_timeout_ms=stability_timeout_ms,
            timeout=timeout,
            verbose=verbose,
        )
        return answer

    def execute_parallel(
        self,
        sequences: Iterable[Mapping[str, Any] | Part],
        *,
        lockstep: bool = False,
        stability_ms: int = 150,
        stability_timeout_ms: int = 5000,
        timeout: int = 120000,
        verbose: bool = False,
    ) -> ParallelResult:
        """Run one sequence a session at the same time: `[{"session_id": "ann", "actions": [...]}, ...]`.

        One that fails does not stop the others: `result.sequences["ann"]` is its result, or the error for which it
        has none. With `lockstep` the one list runs on all its `session_ids` step by step, up to the first step after
        which they do not show the same by role and name: `result.divergence`.

        Raises:
            InvalidArgument: A step is unknown or wrong; nothing was run.
            OrchestratorError: All of them failed; this is the first one's error.
        """
        answer: ParallelResult = self._wait(
            "execute_parallel",
            sequences=sequences,
            lockstep=lockstep,
            stability_ms=stability_ms,
            stability_timeout_ms=stability_timeout_ms,
            timeout=timeout,
            verbose=verbose,
        )
        return answer
