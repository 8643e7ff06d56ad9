"""Parameters that name files and URLs: each declares its use, and so where it is checked."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import Annotated, Any, Protocol, TypeVar, Union, cast, get_args, get_origin

from pydantic import BaseModel

ModelT = TypeVar("ModelT", bound=BaseModel)


class PathUse(StrEnum):
    """The use of the file or URL that a parameter names.

    `read` and `write` are files of this machine; `overwrite` is one that is written even if it is someone else's, which
    the call asks for. `app` is one, too, or else a name or URL that the remote end
    understands. `page` is a URL that a browser opens. `remote` is a URL, or `host:port`, that this process
    connects to. `by_call` is a file that is read or written, as the model's
    `path_use` says.
    """

    READ = "read"
    WRITE = "write"
    OVERWRITE = "overwrite"
    APP = "app"
    PAGE = "page"
    REMOTE = "remote"
    BY_CALL = "by_call"


ReadPath = Annotated[str, PathUse.READ]
"""A file that is read."""
WritePath = Annotated[str, PathUse.WRITE]
"""A file that is written."""
AppPath = Annotated[str, PathUse.APP]
"""An app: a file of this machine, or a name at the remote end."""
PageUrl = Annotated[str, PathUse.PAGE]
"""The URL of a page to open."""
RemoteAddress = Annotated[str, PathUse.REMOTE]
"""The URL, or `host:port`, of a remote end or a browser that runs already."""
ReadOrWritePath = Annotated[str, PathUse.BY_CALL]
"""A file that some calls read and others write."""
Overwrite = bool
"""Permission to write over a file of someone else: the parameter `overwrite` beside a file that is written."""


class ChoosesPathUse(Protocol):
    """A model with a `ReadOrWritePath`."""

    def path_use(self) -> PathUse:
        """Return `read` or `write`, for this call."""
        ...


Convert = Callable[[str, PathUse, str], str]
"""Takes the name of a parameter, its use and its value; returns the value to use."""


def convert_paths(model: ModelT, convert: Convert) -> ModelT:
    """Return a model with every declared path and URL converted; others stay as they are."""
    changed: dict[str, Any] = {}

    def convert_by_call(name: str, use: PathUse, value: str) -> str:
        return convert(name, _use_by_call(model, use), value)

    for name, field in type(model).model_fields.items():
        value = getattr(model, name)
        new = _converted(_annotated(field), value, convert_by_call, field.alias or name)
        if new is not value:
            changed[name] = new
    return model.model_copy(update=changed) if changed else model


def _use_by_call(model: BaseModel, use: PathUse) -> PathUse:
    """Return the use of a path in this call."""
    if use is PathUse.BY_CALL:
        use = cast("ChoosesPathUse", model).path_use()
    return PathUse.OVERWRITE if use is PathUse.WRITE and getattr(model, "overwrite", False) else use


def declared_uses(model: type[BaseModel]) -> Iterator[tuple[str, PathUse]]:
    """Yield the wire name and the use of each parameter that takes a path or a URL of a page."""
    for name, field in model.model_fields.items():
        for use in _uses(_annotated(field)):
            yield field.alias or name, use


def _annotated(field: Any) -> Any:
    """Return a field's annotation with its use, which pydantic keeps apart if the whole is annotated."""
    use = next((one for one in field.metadata if isinstance(one, PathUse)), None)
    return field.annotation if use is None else Annotated[field.annotation, use]


def _uses(annotation: Any) -> Iterator[PathUse]:
    if get_origin(annotation) is Annotated:
        yield from (one for one in annotation.__metadata__ if isinstance(one, PathUse))
    for inner in get_args(annotation):
        yield from _uses(inner)


def _converted(annotation: Any, value: Any, convert: Convert, name: str) -> Any:
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        use = next((one for one in annotation.__metadata__ if isinstance(one, PathUse)), None)
        if use is not None and isinstance(value, str):
            return convert(name, use, value)
        return _converted(inner[0], value, convert, name)
    if origin in (Union, types.UnionType):
        made = (_converted(kind, value, convert, name) for kind in inner)
        return next((new for new in made if new is not value), value)
    if origin in (list, tuple) and isinstance(value, origin):
        items = [_converted(inner[0], item, convert, f"{name}[{index}]") for index, item in enumerate(value)]
        return value if all(map(_is, items, value)) else origin(items)
    return value


def _is(one: object, other: object) -> bool:
    return one is other
