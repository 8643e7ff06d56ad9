"""Forms: set values, press keys, choose options, upload files."""

from __future__ import annotations

import base64
import binascii
import io
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import urlsplit

from pydantic import Field, model_validator

from orchestrator.actions.base import ALL_TYPES, Action, Selector, SelectorAliases, WaitingPageAction
from orchestrator.automation.browser.finder import FoundElement
from orchestrator.automation.browser.settling import Opener
from orchestrator.automation.device_keys import press_device_keys
from orchestrator.automation.fields.app_form_controls import fill_app_control
from orchestrator.automation.fields.codes import type_code
from orchestrator.automation.fields.comboboxes import choose_all_by_name
from orchestrator.automation.fields.focus import focused_frame
from orchestrator.automation.fields.form_controls import choose, describe_mismatch, fill_web_control, toggle
from orchestrator.automation.fields.secret_typing import read_secret, type_secret
from orchestrator.automation.file_choosers import set_files_by_bidi
from orchestrator.automation.input import inserts_with_focus, tapped, touch, type_at_caret
from orchestrator.automation.keys import DEVICE_KEYS, KEYS, key_actions, named_chords
from orchestrator.automation.picker_files import give_to_picker
from orchestrator.automation.scene import Scene
from orchestrator.errors import InvalidArgument, RemoteFailure, Unsupported, brief, quoted
from orchestrator.models import browser_support
from orchestrator.models.paths import ReadPath
from orchestrator.models.results import Acted, Observe
from orchestrator.models.session import SessionType, Wire
from orchestrator.settings import ToolSet
from orchestrator.snapshot.answers import UploadedAnswer
from orchestrator.snapshot.methods import UPLOADED
from orchestrator.system.machine import LOOPBACK
from orchestrator.system.secrets import MASK, is_typed_reference

_ONLY_ON_DEVICES = DEVICE_KEYS - {"HOME"}
"""Keys that no keyboard has."""
_LEADING_OUT = frozenset({"Tab", "Escape"})
"""Keys that put nothing into a field."""
_TEXT_KINDS = frozenset({"text", "textarea", "password", "contenteditable"})

_LONGEST, _MOST_LINES = 1_000_000, 20_000
"""Characters and lines of a value: the browser needs longer for larger ones than a call may take."""
_SHOWN = 500
"""Characters of a path that an error shows."""


def _types_character(chord: list[str]) -> bool:
    return len(chord[-1]) == 1 and {*chord[:-1]} <= {"Shift"}


def press_session_keys(scene: Scene, pressed: list[list[str]]) -> None:
    """Press chords of key names: the device's keys on an app's own screen, the keyboard's in a page.

    Raises:
        Unsupported: The session's keyboard lacks a key.
    """
    if scene.native:
        press_device_keys(scene, pressed)
        return
    if unknown := DEVICE_KEYS & {name for chord in pressed for name in chord}:
        raise Unsupported(
            f"{min(unknown)} is a key of devices, and this session shows a page.",
            hint="Use navigate with history back; in an app's web view, first switch_context to NATIVE_APP.",
        )
    scene.remote.execute(
        "actions", actions=key_actions([[KEYS.get(name, name) for name in chord] for chord in pressed])
    )


class SetValue(SelectorAliases, WaitingPageAction):
    """Fill in (type, input, enter text) a field, or set a checkbox, radio, select, date, color or slider.

    Replaces the content; checkboxes take true or false, dates ISO format.
    """

    verb: ClassVar[str] = "set_value"
    title: ClassVar[str] = "Fill in"
    types: ClassVar[frozenset[SessionType]] = ALL_TYPES
    toolset: ClassVar[ToolSet] = "core"
    idempotent: ClassVar[bool] = True

    selector: Selector
    value: str = Field(
        repr=False, coerce_numbers_to_str=True, description="secret:NAME, totp:NAME: what the server keeps."
    )
    submit: bool = Field(default=False, description="Press Enter afterwards.")
    keystrokes: bool = Field(default=False, description="Key events for each character.")

    @model_validator(mode="before")
    @classmethod
    def _forgive_text(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        if "text" in data and "value" not in data:
            data = {**{key: item for key, item in data.items() if key != "text"}, "value": data["text"]}
        if isinstance(data.get("value"), bool):
            data = {**data, "value": str(data["value"]).lower()}
        return data

    @model_validator(mode="after")
    def _bounded(self) -> SetValue:
        lines = self.value.count("\n") + 1
        if len(self.value) > _LONGEST or lines > _MOST_LINES:
            raise InvalidArgument(
                f"The value is too large: {len(self.value):,} characters in {lines:,} lines, and set_value takes "
                f"{_LONGEST:,} in {_MOST_LINES:,} lines at most.",
                hint="Put it into the page as a file by upload_files, or fill in a part of it.",
            )
        return self

    def default_observe(self) -> Observe:
        """Report the change if the form is submitted."""
        return "change" if self.submit else "none"

    def opener(self, observe: Observe) -> Opener | None:
        """The focus, if changes are asked for."""
        return "focus" if observe != "none" and not self.submit else None

    def act(self, scene: Scene) -> Acted:
        """Focus and select in one script call, which may type, too; else type by a command; read back at the end."""
        if is_typed_reference(self.value):
            return self._type_secret(scene)
        asked: dict[str, Any] = {"value": self.value, "handle": True}
        if inserts_with_focus(scene, self.value, keystrokes=self.keystrokes):
            asked["inserts"] = True
        with scene.element(self.selector, "fill", self.timeout, **asked) as hit:
            if hit.kind == "password" or hit.facts.get("secret"):
                scene.mask_typed(self.value)
            way = fill_app_control if scene.native else fill_web_control
            filled = way(scene, hit, self.value, keystrokes=self.keystrokes)
            warnings = filled[1] if filled else []
            if self.submit:
                press_session_keys(scene, [["Enter"]])
            elif filled and scene.finder.at_top:
                held = filled[0]
                scene.record_url_and_title(held)
                return Acted(matches=hit.matches, warnings=warnings, url=held["url"], title=held["title"])
        return Acted(matches=hit.matches, warnings=warnings)

    def _type_secret(self, scene: Scene) -> Acted:
        """Type what only this process knows, without asking the page anything about it."""
        with scene.element(self.selector, "fill", self.timeout, handle=True) as hit:
            if hit.kind not in _TEXT_KINDS:
                raise InvalidArgument(
                    f"{self.value} is typed into fields for text, and {quoted(self.selector)} is none.",
                    hint="Give the value itself.",
                )
            if scene.native:
                text = read_secret(scene, self.value, "", hidden=hit.kind == "password")
                filled = fill_app_control(scene, hit, text, keystrokes=self.keystrokes)
                warnings = filled[1] if filled else []
            else:
                warnings = type_secret(scene, self.value, hit, replace=True, keystrokes=self.keystrokes)
            if self.submit:
                press_session_keys(scene, [["Enter"]])
        return Acted(matches=hit.matches, warnings=warnings)


class PressKeys(SelectorAliases, WaitingPageAction):
    """Press keys (Enter, Control+A, Tab Tab; in an app also BACK, HOME), or type text at the caret."""

    verb: ClassVar[str] = "press_keys"
    title: ClassVar[str] = "Press keys"
    types: ClassVar[frozenset[SessionType]] = ALL_TYPES
    toolset: ClassVar[ToolSet] = "core"
    observes: ClassVar[Observe] = "change"

    keys: str | None = Field(default=None, min_length=1, max_length=1000)
    selector: Selector | None = None
    text: str | None = Field(default=None, min_length=1, repr=False, coerce_numbers_to_str=True)

    def log_arguments(self) -> dict[str, Any]:
        """Mask typed characters: they may be part of a password."""
        if self.keys is None:
            return super().log_arguments()
        pressed = named_chords(self.keys, device=True)
        return {
            **super().log_arguments(),
            "keys": " ".join(MASK if _types_character(chord) else "+".join(chord) for chord in pressed),
        }

    @model_validator(mode="after")
    def _known(self) -> PressKeys:
        if (self.keys is None) == (self.text is None):
            raise InvalidArgument(
                f"press_keys takes keys or text, {'and got neither' if self.keys is None else 'not both'}.",
                hint="keys presses Enter or Control+A; text is typed at the caret as it stands.",
            )
        if self.keys is not None:
            named_chords(self.keys, device=True)
        return self

    def opener(self, observe: Observe) -> Opener | None:
        """The focus, which comes to the element and goes on with Tab."""
        del observe
        return "focus" if self.selector is not None or "tab" in (self.keys or "").lower() else None

    def act(self, scene: Scene) -> Acted:
        """Press all keys in one command; an app's keys are the device's, pressed one by one."""
        if self.selector is None:
            return Acted(warnings=self._press_at_focus(scene))
        is_secret = is_typed_reference(self.text)
        with scene.element(self.selector, "focus", self.timeout, handle=is_secret) as hit:
            if scene.native and not hit.facts.get("focused"):
                touch(scene, tapped(hit.point))
            if is_secret and not scene.native:
                return Acted(matches=hit.matches, warnings=type_secret(scene, self.text or "", hit))
            is_code = hit.facts.get("code", False)
            warnings = self._press_or_type(scene, secret=hit.kind == "password", is_code=is_code)
        return Acted(matches=hit.matches, warnings=warnings)

    def _press_at_focus(self, scene: Scene) -> list[str]:
        """Press or type where the focus is, other than in a frame of another site; return warnings."""
        if scene.native or (self.text is None and self._only_moves_focus()):
            return self._press_or_type(scene, secret=False)
        with focused_frame(scene) as place:
            if self.text is not None and is_typed_reference(self.text):
                return type_secret(scene, self.text)
            is_code = place.get("code", False)
            if is_code or scene.finder.frames.holds_input:
                return self._press_or_type(scene, secret=place["secret"], is_code=is_code)
        return self._press_or_type(scene, secret=place["secret"])

    def _only_moves_focus(self) -> bool:
        """True for keys that put nothing into a field, and lead out of one."""
        chords = named_chords(self.keys or "", device=True)
        return all(chord[-1] in _LEADING_OUT and {*chord[:-1]} <= {"Shift"} for chord in chords)

    def _press_or_type(self, scene: Scene, *, secret: bool, is_code: bool = False) -> list[str]:
        """Press or type in the element that has the focus; return warnings.

        What is typed is masked where that is a password field; a code goes on in the boxes beside it.
        """
        if self.text is not None:
            text = read_secret(scene, self.text, "", hidden=secret) if is_typed_reference(self.text) else self.text
            if secret:
                scene.mask_typed(text)
            if is_code and len(text) > 1 and text.isprintable():
                return type_code(scene, text, secret=secret)
            type_at_caret(scene, text)
        elif self.keys is not None:
            device = scene.native or bool(_ONLY_ON_DEVICES & {*self.keys.upper().split()})
            press_session_keys(scene, named_chords(self.keys, device=device))
        return []


class InlineFile(Wire):
    """A small file whose content is sent with the call."""

    name: str
    data: str = Field(repr=False)

    @property
    def content(self) -> bytes:
        """Its bytes.

        Raises:
            InvalidArgument: The data are no base64.
        """
        try:
            return base64.b64decode(self.data, validate=True)
        except (binascii.Error, ValueError):
            raise InvalidArgument(
                f"The data of the file {quoted(brief(self.name, _SHOWN))} are no base64.",
                hint="Encode the file's bytes as base64, without line breaks.",
            ) from None


class UploadFiles(SelectorAliases, WaitingPageAction):
    """Put files into a file input, or that of a button or label."""

    verb: ClassVar[str] = "upload_files"
    title: ClassVar[str] = "Upload files"
    instead: ClassVar[str] = "To put a file on the device: execute_script with mobile: pushFile."
    by_default: ClassVar[bool] = True
    idempotent: ClassVar[bool] = True

    selector: Selector
    paths: list[ReadPath] = Field(default=[])
    files: list[InlineFile] = Field(default=[], description="Small, as base64.", repr=False)

    @model_validator(mode="after")
    def _names_one(self) -> UploadFiles:
        if not self.paths and not self.files:
            raise ValueError("'paths' or 'files' must have a file")
        return self

    def act(self, scene: Scene) -> Acted:
        """Send the paths by Element Send Keys; a remote end elsewhere receives the files first."""
        sent = [(file.name, file.content) for file in self.files]
        files = [_readable(path) for path in self.paths]
        files += [scene.files.client_files.save(name, content).path for name, content in sent]
        pickers = scene.browser in browser_support.CHROMIUM
        found = scene.element(self.selector, "files", self.timeout, files=len(files), handle=True, pickers=pickers)
        with found as hit:
            places = [_send(scene, file) if scene.record.is_remote else str(file) for file in files]
            if hit.kind != "picker":
                return self._fill(scene, hit, files, places)
        return give_to_picker(scene, self.selector, self.timeout, places)

    def _fill(self, scene: Scene, hit: FoundElement, files: Sequence[Path], places: Sequence[str]) -> Acted:
        if hit.facts.get("loose"):
            set_files_by_bidi(scene, [*places])
            return Acted(matches=hit.matches)
        with scene.finder.in_frame(hit.facts["path"]):
            handle = next(iter(scene.web_page.handle().values()))
            text = "\n".join(places)
            scene.remote.execute("sendKeysToElement", id=handle, text=text, value=list(text))
        held = scene.query_page(UPLOADED)
        return Acted(matches=hit.matches, warnings=_warnings([file.name for file in files], held))


def _readable(given: str) -> Path:
    """The file as an absolute path.

    Raises:
        InvalidArgument: There is no such file, or it cannot be read.
    """
    path = Path(given)
    try:
        path = path.expanduser().absolute()
        problem = _file_problem(path)
    except (OSError, ValueError, RuntimeError):  # too long, a null character, an unknown user
        problem = "cannot be a file"
    if problem:
        raise InvalidArgument(f"{brief(str(path), _SHOWN)!r} {problem}.", hint="Give paths of files on this machine.")
    return path


def _file_problem(path: Path) -> str:
    """The reason why the file cannot be uploaded; empty if it can."""
    if not path.exists():
        return "does not exist"
    if not path.is_file():
        return "is not a file"
    try:
        path.open("rb").close()  # os.access does not know every reason
    except OSError:
        return "cannot be read"
    return "has a line break in its name" if "\n" in str(path) else ""


def _send(scene: Scene, file: Path) -> str:
    """Send the file to the remote end (selenium's POST /session/{id}/se/file); its path there.

    A driver on this machine that lacks the command reads the file from its own path.

    Raises:
        Unsupported: The remote end is on another machine and lacks the command.
    """
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(file, file.name)
    try:
        return str(scene.remote.execute("uploadFile", file=base64.b64encode(packed.getvalue()).decode()))
    except RemoteFailure as error:
        if not error.is_unknown_command:
            raise
        if urlsplit(scene.record.remote_url).hostname in LOOPBACK:
            return str(file)
        raise Unsupported(
            "The remote end accepts no uploaded files: it lacks the command se/file.",
            hint="Use a Selenium Grid or cloud that has it, or a browser on this machine.",
        ) from error


def _warnings(names: list[str], found: UploadedAnswer) -> list[str]:
    """Warn of what the page did with the files that the browser put into the input, if they are not there any more."""
    held = found["held"]
    if held is None or held == names:
        return []
    if not held:
        return ["The page has emptied the input since it got the files: it took them over, or does not want them."]
    return [f"The page has changed the input's files since it got them: it now holds {', '.join(held)}."]


class SelectOption(SelectorAliases, WaitingPageAction):
    """Choose exactly these options of a select (dropdown, list), by value, label or index."""

    verb: ClassVar[str] = "select_option"
    title: ClassVar[str] = "Choose options"
    in_web_views: ClassVar[bool] = True
    instead: ClassVar[str] = "Use set_value, or tap it and then its option."
    idempotent: ClassVar[bool] = True

    selector: Selector
    values: list[str]

    def act(self, scene: Scene) -> Acted:
        """Choose one option by keys; in a multiple select, click each option that must change, with a modifier held."""
        with scene.element(self.selector, "options", self.timeout, values=self.values, handle=True) as hit:
            if hit.kind == "combobox":
                held, warnings = choose_all_by_name(scene, hit, self.values)
            else:
                held = toggle(scene) if hit.facts.get("multiple") else choose(scene, hit)
                warnings = [] if held["same"] else [describe_mismatch(held)]
            if not scene.finder.at_top:
                return Acted(matches=hit.matches, warnings=warnings)
            scene.record_url_and_title(held)
            return Acted(matches=hit.matches, warnings=warnings, url=held["url"], title=held["title"])


ACTIONS: list[type[Action[Any]]] = [SetValue, PressKeys, UploadFiles, SelectOption]
