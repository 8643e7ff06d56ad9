"""Answers of the page engine, as its scripts (`orchestrator/snapshot/web/scripts`) write them."""

from __future__ import annotations

from typing import Any

PLACE = {"url": "https://shop.example/cart", "title": "Cart"}
"""A page by its address and title (`text.js`)."""
PAY = 'button "Pay" [e1]'
"""The outline's line of the element that the tests act on."""

Answer = dict[str, Any]


def ready(**facts: Any) -> Answer:
    """`ready`, `intoView`: an element can be acted on (`ready.js`, `succeed`)."""
    place = {"x": 60, "y": 40, "width": 80, "height": 20, "path": []}
    element = {"ref": "e1", "line": PAY, "role": "button", "name": "Pay", "tag": "button", "kind": "button"}
    return {"ok": True, **place, "matches": 1, **element, "empty": True, "checked": None, **facts}


def refused(reason: str, detail: str = "", **facts: Any) -> Answer:
    """`ready`: an element is there and cannot be acted on yet (`ready.js`, `tryMatches`)."""
    return {"ok": False, "reason": reason, "detail": detail, "matches": 1, "candidates": [], **facts}


def not_found(*frames: Answer, candidates: tuple[str, ...] = ()) -> Answer:
    """`ready`: nothing matches; the element may be in these frames of other origins."""
    found = {"reason": "not_found", "detail": 'nothing matches css "#pay"', "matches": 0}
    return {"ok": False, **found, "candidates": list(candidates), "frames": list(frames)}


def turned_down(reason: str, detail: str = "", **facts: Any) -> Answer:
    """Any question with an unusable locator: a ref is stale, a frame gone (`locate.js`, `Refusal`)."""
    return {"ok": False, "reason": reason, "matches": 0, "detail": detail, "frames": [], **facts}


def frame(index: int | str, ref: str, *, entered: bool = True) -> Answer:
    """A frame of another origin (`snapshot.js`, `crossOriginFrames`)."""
    return {"path": [index], "ref": ref, "line": f"iframe [{ref}]", "entered": entered}


def elsewhere(index: int, ref: str, *rest: Answer) -> Answer:
    """Any question with a locator into a frame of another origin (`locate.js`, `Elsewhere`)."""
    return {"crossOrigin": {"path": [index], "ref": ref, "rest": list(rest)}}


def waited(*failed: Answer, matches: int = 1, **facts: Any) -> Answer:
    """`wait`: all conditions hold, or these do not (`conditions.js`)."""
    return {"ok": not failed, "failed": list(failed), "matches": matches, **PLACE, "near": [], **facts}


def marked(**facts: Any) -> Answer:
    """`mark` (`delta.js`, `beginMark`)."""
    return {**PLACE, "lines": 12, **facts}


def state(**facts: Any) -> Answer:
    """`state` (`engine.js`)."""
    return {**PLACE, "readyState": "complete", **facts}


def delta(**facts: Any) -> Answer:
    """`delta`: the difference from the mark (`delta.js`); `now` is the page's place."""
    told = {"sameDocument": True, "now": PLACE, "url": None, "title": None, "redrawn": 0, "more": None}
    return {**told, "invalid": [], "appeared": [], "disappeared": [], "changed": [], **facts}


def settled(**differences: Any) -> Answer:
    """`settle`: the page is at rest, with this difference (`settle.js`)."""
    return {"settled": True, "quietFor": 150, "delta": delta(**differences), "deltaMs": 1}


def unsettled(reason: str) -> Answer:
    """`settle`: the slice is over and the page is not at rest."""
    return {"settled": False, "reason": reason, "quietFor": 0}


def outwards(left: float, top: float, *, scale: float = 1.0, size: tuple[float, float] = (300, 200)) -> Answer:
    """`outwards`: a frame's place in the document around it (`box.js`)."""
    part = {"left": left, "top": top, "right": left + size[0], "bottom": top + size[1]}
    return {"lens": [scale, 0, left, 0, scale, top, 0, 0, 1], "part": part}


def pressed(missed: str = "", **facts: Any) -> Answer:
    """`pressed`: the pointer reached its element, or met something else (`press.js`)."""
    return {"missed": missed, **facts} if missed else {}
