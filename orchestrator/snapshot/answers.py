"""The answers of the page engine and of an app's screen, one type for each method.

The keys are those of the wire. An optional key (`NotRequired`) is read by `get`. A limit that every value of a kind has
to keep stands at that kind, in the first lines: `PageMethod.read` checks answers against it.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, TypeAlias

from pydantic import Field
from typing_extensions import TypedDict

Number: TypeAlias = Annotated[float, Field(allow_inf_nan=False)]
"""A finite number."""
Count: TypeAlias = Annotated[int, Field(ge=0)]
"""A number of things, or of milliseconds."""
Text: TypeAlias = str
"""A text of the page, already normalised and cut by the engine where it is shown."""
Line: TypeAlias = Annotated[
    str, Field(max_length=5000, pattern=r"^[^\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]*$")
]
"""A line of an outline: no control characters, and none that change the direction of text."""
Ref: TypeAlias = Annotated[str, Field(pattern=r"^e[0-9]{1,15}$")]
"""The ref of an element, such as `e12`."""
RefNumber: TypeAlias = Annotated[int, Field(ge=0, lt=10**15)]
"""The number in a ref."""
FramePath: TypeAlias = list[int | str]
"""The way to a frame: window indexes, or the ref of a frame to which no index leads."""
NumberPair: TypeAlias = Annotated[list[Number], Field(min_length=2, max_length=2)]
"""Across and down."""
FrameLens: TypeAlias = Annotated[list[Number], Field(min_length=9, max_length=9)]
"""The map from coordinates inside a frame to those of the document around it: a projective one, as a matrix by rows."""
PixelPair: TypeAlias = Annotated[list[int], Field(min_length=2, max_length=2)]
"""Across and down, in whole pixels."""
Checked: TypeAlias = bool | Literal["mixed"] | None
"""The state of a toggle; None for an element that is none."""


class PageAddress(TypedDict):
    """The page's URL and title; the URL of an app's screen is empty."""

    url: Text
    title: Text


class BoxSides(TypedDict):
    """A rectangle, in CSS pixels of the viewport or in the coordinates of an app's driver."""

    left: Number
    top: Number
    right: Number
    bottom: Number


class FrameAddress(TypedDict):
    """The way to a frame of another origin."""

    path: FramePath
    ref: Ref


class UnsearchedFrame(FrameAddress):
    """A frame of another origin that may hold what is sought; `entered` if the locator's own frames were found.

    `around` is the origin of the document that shows it, `complete` if that has loaded.
    """

    line: Line
    entered: bool
    around: NotRequired[Text]
    complete: NotRequired[bool]


class FrameInOutline(FrameAddress):
    """A frame of another origin in an outline: its lines follow line `at`, indented by `depth` + 1."""

    line: Line
    at: int
    depth: int


class FrameInText(FrameAddress):
    """A frame of another origin in a text, with the number of characters before it."""

    at: Count


class RefusedAnswer(TypedDict):
    """A locator that found no usable element: `reason` is one of the engine's words, `detail` a sentence.

    `given` is a script's argument as its caller wrote it; `outside` the way to scroll to an element of an app,
    `instead` the element that is now what the ref was.
    `settled` if it was the same for a while, in a page that waits for nothing; `isRole` if it is for an element's role.
    """

    ok: Literal[False]
    reason: str
    detail: Text
    matches: Count
    candidates: NotRequired[list[Line]]
    frames: NotRequired[list[UnsearchedFrame]]
    given: NotRequired[str]
    outside: NotRequired[str]
    instead: NotRequired[Ref]
    settled: NotRequired[bool]
    isRole: NotRequired[bool]


class CrossOriginStep(FrameAddress):
    """The frame in which a locator goes on, and the locators that are left to follow there."""

    rest: list[dict[str, Any]]


class CrossOriginAnswer(TypedDict):
    """A locator that leads into a frame of another origin, which has an engine of its own."""

    crossOrigin: CrossOriginStep
    given: NotRequired[str]


class StateAnswer(PageAddress):
    """`state`: the document's URL, title and ready state."""

    readyState: Literal["loading", "interactive", "complete"]


class ElementFacts(TypedDict):
    """An element of a snapshot as data."""

    ref: Ref
    role: str
    name: Text
    value: NotRequired[Text]
    states: NotRequired[list[str]]
    selector: str
    cssSelector: NotRequired[str]


class SnapshotAnswer(PageAddress):
    """`snapshot`: the outline as lines, or the elements as data; `outside` counts what scrolling would show."""

    lines: list[Line]
    elements: NotRequired[list[ElementFacts]]
    total: Count
    shown: Count
    outside: Count
    frames: list[FrameInOutline]


class TextAnswer(PageAddress):
    """`text`: the visible text of the page or of the first match, or its beginning if there is `more`."""

    text: Text
    more: bool
    matches: Count
    frames: list[FrameInText]


class SourceAnswer(PageAddress):
    """`source`: the markup of the page or of the first match, or its beginning if there is `more`."""

    source: str
    more: bool
    matches: Count


class ControlFacts(TypedDict, total=False):
    """Facts that only some needs and some kinds of controls have.

    scrolled: It was scrolled into view.
    inserted: It has taken the value.
    already, mixed: It holds the wanted value; it is neither checked nor unchecked.
    held, keys: What the control will hold of the value, and the keys that write it.
    now, aim, vertical: The position of a slider, and where it is to go.
    optionIndex, optionSteps: An option's index, and its distance from both ends of the list.
    multiple: The select takes several options.
    open, editable: The list of a combobox can be seen; its field takes typing.
    focused: The element of an app has the focus.
    code, secret: It is a box of a code that takes one character; it holds a password.
    handle: `PageEngine.handle` returns it.
    loose: It is a file input that is no part of the document.
    """

    scrolled: bool
    inserted: bool
    already: bool
    mixed: bool
    held: Text
    keys: list[str] | None
    now: Number | None
    aim: Number | None
    vertical: bool
    optionIndex: Count
    optionSteps: Annotated[list[Count], Field(min_length=2, max_length=2)]
    multiple: bool
    open: bool
    code: bool
    secret: bool
    editable: bool
    focused: bool
    handle: bool
    loose: bool


class ReadyAnswer(ControlFacts):
    """`ready`, `intoView`: an element that can be acted on, where its clickable point is, and its document's origin."""

    ok: Literal[True]
    origin: NotRequired[Text]
    x: int
    y: int
    width: int
    height: int
    matches: Count
    ref: Ref
    line: Line
    role: str
    name: Text
    tag: str
    kind: str
    empty: bool
    checked: Checked
    path: FramePath


class HeldAnswer(PageAddress):
    """`verify`, `optionsHeld`, `comboboxHeld`, `edited`: what the control that was acted on holds now.

    `same` if that was wanted, `gone` if it left the document, `elsewhere` the line of what has taken the focus, `other`
    if the value is another option's name.
    """

    same: bool
    value: Text
    other: NotRequired[Literal[True]]
    checked: NotRequired[Checked]
    elsewhere: NotRequired[Line]
    gone: NotRequired[bool]


class UnmetCondition(TypedDict):
    """A condition of `wait` with its expected and its actual value."""

    condition: str
    expected: Any
    actual: Any


class WaitAnswer(PageAddress):
    """`wait`: `ok` if all conditions hold; else those that failed, and the lines `near` the element."""

    ok: bool
    failed: list[UnmetCondition]
    matches: Count
    near: list[Line]
    frames: NotRequired[list[UnsearchedFrame]]


class LoadedAnswer(TypedDict):
    """`loaded`: `there` if the document is in one of the states asked for.

    `failed` is the browser's error code ('' without one) if it shows an error page, `stayed` if the document was there
    before, `overtaken` if the page before it went elsewhere at the same moment, `leaves` if it led on to another one.
    """

    there: bool
    failed: NotRequired[str]
    stayed: bool
    overtaken: bool
    leaves: NotRequired[bool]


class BoxesAnswer(PageAddress):
    """`boxes`: the visible part of each match."""

    boxes: list[BoxSides]


class ElementMark(TypedDict):
    """The visible part of an element that can be acted on."""

    ref: Ref
    box: BoxSides


class MarkedAnswer(TypedDict):
    """`marked`: all elements that can be acted on, and the frames of other origins that have more of them."""

    marks: list[ElementMark]
    frames: list[FrameAddress]


class ViewAnswer(PageAddress):
    """`shot` without a locator: size and scroll position of the viewport, and device pixels for each CSS pixel."""

    ok: Literal[True]
    view: NumberPair
    scroll: NumberPair
    ratio: Number


class ShotAnswer(ReadyAnswer):
    """`shot` of an element: its box, the part of it that can be seen, and the viewport around it."""

    url: Text
    title: Text
    view: NumberPair
    scroll: NumberPair
    ratio: Number
    box: BoxSides
    part: BoxSides


class OutwardsAnswer(TypedDict):
    """`outwards`: where a frame stands in the document around it, and what of it can be seen there.

    obstacle: Why a pointer does not reach the frame at the point that was given.
    """

    lens: FrameLens
    part: BoxSides
    obstacle: NotRequired[Line]


class FrameWayAnswer(FrameAddress):
    """`frameWay`: the way to a frame; `closed` if it is of another origin."""

    closed: bool


class ScrollInfoAnswer(TypedDict):
    """`scrollInfo`: the point at which to scroll, the size of what scrolls, and where it stands.

    `ref` and `box` are of the part that scrolls; a whole page has none.
    """

    x: int
    y: int
    before: NumberPair
    atEnd: bool
    page: PixelPair
    ref: NotRequired[Ref]
    box: NotRequired[BoxSides]


class ScrolledAnswer(TypedDict):
    """`scrolled`: how far it went since `scrollInfo`; `gone` if what scrolled is no longer in the document."""

    moved: Count
    atEnd: bool
    gone: NotRequired[bool]


class TogglesAnswer(TypedDict):
    """`toggles`: the points of options to click, and how many are not as wanted."""

    points: list[PixelPair]
    left: Count


class OfferedAnswer(TypedDict):
    """`offered`: the point of the option that was looked for, once it is `found` in the `open` list of a combobox.

    Without it, `options` are the lines of those that the list has, or `failure` says why it cannot be chosen; `several`
    names those of one name. `chosen` if a list of several choices has it already.
    """

    found: bool
    open: bool
    x: NotRequired[int]
    y: NotRequired[int]
    chosen: NotRequired[bool]
    failure: NotRequired[Text]
    several: NotRequired[Text]
    options: list[Line]


class SurplusAnswer(TypedDict):
    """`surplus`: the point of a chosen option that is not wanted; None if there is none."""

    point: PixelPair | None


class SliderAnswer(TypedDict):
    """`slider`: the position of the slider that was acted on; None if it is gone or has no position."""

    now: Number | None


class AssignAnswer(TypedDict):
    """`assign`: nothing."""


class EditingAnswer(TypedDict):
    """`editing`: `ok` if the editor that was clicked has given the focus to a field of its own."""

    ok: bool
    secret: bool
    line: Line


class TakenAnswer(TypedDict):
    """`pasted`, `prefilled`, `inserted`: True if the field in focus took the text."""

    taken: bool


class UploadedAnswer(PageAddress):
    """`uploaded`: the names of the files that the input holds; None if it is gone, perhaps with its document."""

    held: list[Text] | None


class ScriptAnswer(TypedDict):
    """The value that a script returned, elements as `{"ref": …}`; its beginning if it was `cut`."""

    value: Any
    cut: NotRequired[bool]


class ReturnedAnswer(TypedDict):
    """The elements that a script returned, as `{"ref": …}`; None for what is no element."""

    elements: list[dict[str, Ref] | None]


class FileInputAnswer(TypedDict):
    """A file input that a picker was opened for."""

    line: Line
    ref: Ref
