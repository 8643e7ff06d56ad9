"""Writes `orchestrator/methods.py`: each action as a method, and the façade's blocking twin.

The actions are taken from the catalogue, the rest from the source of the async classes. Nothing that needs the written
module is imported, so that it can be written anew when it is broken. `make docs` runs this; a test fails when the
module is stale.
"""

from __future__ import annotations

import ast
import inspect
import keyword
import re
import subprocess
import sys
import textwrap
import types
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from orchestrator.actions.base import AnyAction
from orchestrator.actions.catalogue import CATALOGUE

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "orchestrator"
PLACE = PACKAGE / "methods.py"
TWINS = (("api.py", "Orchestrator"), ("starts.py", "Starts"), ("python_api.py", "PythonApi"))
"""Whose async methods the blocking façade has, too; those that return a `Session` give that of `sync.py`."""

_HANDLE = "Session"
_POSITIONAL = 2
_WIDTH = 120
_HEAD = '''"""Each action as a method, and the blocking twins: written by `make docs`, never by hand."""

from __future__ import annotations

'''
_ASYNC = '''
class SessionMethods(ABC):
    """What can be done in a session; each raises an `OrchestratorError` when it cannot be done."""

    @abstractmethod
    async def _do(self, declared: type[Action[ResultT]], fields: Mapping[str, Any]) -> ResultT:
        """Read the fields as this action, and do it."""

'''
_BLOCKING = '''
class BlockingSessionMethods(ABC):
    """What can be done in a session, without `await`."""

    @abstractmethod
    def _do(self, declared: type[Action[ResultT]], fields: Mapping[str, Any]) -> ResultT:
        """Read the fields as this action, and do it."""

    @abstractmethod
    def _wait(self, method: str, **arguments: Any) -> Any:
        """Call a method of the async session, and wait for its answer."""

'''
_FACADE = '''
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

'''


class Imports:
    """What the written module needs from elsewhere."""

    def __init__(self) -> None:
        self._wanted: dict[str, set[str]] = {
            "abc": {"ABC", "abstractmethod"},
            "collections.abc": {"Mapping"},
            "typing": {"Any", "Generic", "TypeVar"},
            "orchestrator.actions.base": {"Action", "ResultT"},
        }

    def of(self, declared: type) -> str:
        """A class by its name."""
        return self.name(declared.__module__, declared.__name__)

    def name(self, module: str, name: str) -> str:
        """A name from a module."""
        if module != "builtins":
            self._wanted.setdefault(module, set()).add(name)
        return name

    def lines(self) -> str:
        """The import statements, as ruff sorts them."""
        ours = {module for module in self._wanted if module.startswith("orchestrator")}
        groups = (set(self._wanted) - ours, ours)
        return "\n".join(
            "".join(f"from {module} import {', '.join(_sorted(self._wanted[module]))}\n" for module in sorted(group))
            for group in groups
        )


def _sorted(names: set[str]) -> list[str]:
    """Constants, then classes, then the rest."""
    return sorted(names, key=lambda name: (not name.isupper() or len(name) == 1, not name[0].isupper(), name))


def text() -> str:
    """The module as it must be."""
    imports = Imports()
    actions = list(CATALOGUE.values())
    own = list(_public("session.py", "Session"))
    taken = {node.name for node in own} & set(CATALOGUE)
    if taken:
        raise ValueError(f"{', '.join(taken)}: a session has methods of these names already")
    parts = [
        _ASYNC + "\n".join(_method(action, imports, blocking=False) for action in actions),
        _BLOCKING
        + "\n".join(_method(action, imports, blocking=True) for action in actions)
        + "\n"
        + "\n".join(_twin(node, "session.py", imports) for node in own),
        _FACADE + "\n".join(_twin(node, file, imports) for file, owner in TWINS for node in _public(file, owner)),
    ]
    return _formatted(_HEAD + imports.lines() + "\n".join(parts))


def _formatted(source: str) -> str:
    command = [sys.executable, "-m", "ruff", "format", "--stdin-filename", str(PLACE), "-"]
    done = subprocess.run(command, input=source, capture_output=True, encoding="utf-8", check=False, cwd=ROOT)
    if done.returncode:
        raise ValueError(done.stderr)
    return done.stdout


# Actions


def _method(action: type[AnyAction], imports: Imports, *, blocking: bool) -> str:
    fields = _ordered(action)
    positional = _positional(fields)
    parameters = ["self"]
    for name, field in fields.items():
        if name not in positional and "*" not in parameters:
            parameters.append("*")
        parameters.append(_parameter(name, field, imports))
    given = ", ".join(f'"{name}": {_spelled(name)}' for name in fields)
    call = f"self._do({imports.of(action)}, {{{given}}})"
    head = "def" if blocking else "async def"
    back = call if blocking else f"await {call}"
    return (
        f"    {head} {action.verb}({', '.join(parameters)}) -> {imports.of(action.result)}:\n"
        f"{_docstring(_told(action, fields))}\n"
        f"        return {back}\n"
    )


def _ordered(action: type[AnyAction]) -> dict[str, FieldInfo]:
    """The fields: its own first, then those it has in common with others; inside each group as declared."""
    homes = {
        name: place for place, home in reversed([*enumerate(action.__mro__)]) for name in inspect.get_annotations(home)
    }
    return dict(sorted(action.model_fields.items(), key=lambda item: homes[item[0]]))


def _positional(fields: dict[str, FieldInfo]) -> list[str]:
    """What may be given without its name: what is required, and plain text, as far as it stands in front."""
    found: list[str] = []
    for name, field in fields.items():
        text = set(_alternatives(field.annotation)) <= {str}
        needed = field.is_required() and field.annotation is not bool
        optional_before = any(not fields[one].is_required() for one in found)
        if not (needed or text) or (field.is_required() and optional_before) or len(found) == _POSITIONAL:
            break
        found.append(name)
    return found


def _spelled(name: str) -> str:
    """A field's name as a parameter: the trailing underscore is there only where Python needs it."""
    plain = name.rstrip("_")
    return f"{plain}_" if keyword.iskeyword(plain) else plain


def _parameter(name: str, field: FieldInfo, imports: Imports) -> str:
    kind = _type(field.annotation, imports)
    if field.is_required():
        return f"{_spelled(name)}: {kind}"
    default = field.get_default(call_default_factory=True, validated_data={})
    if isinstance(default, Enum):
        default = default.value
    if isinstance(default, list | tuple) and all(isinstance(one, str | int | float) for one in default):
        default = tuple(default)
    elif not isinstance(default, str | int | float):
        default = None
        kind = kind if kind.endswith("None") else f"{kind} | None"
    return f"{_spelled(name)}: {kind} = {default!r}"


def _alternatives(annotation: Any) -> list[Any]:
    origin = get_origin(annotation)
    if origin is Annotated:
        return _alternatives(get_args(annotation)[0])
    if origin in (Union, types.UnionType):
        return [kind for one in get_args(annotation) for kind in _alternatives(one)]
    return [] if annotation in (None, types.NoneType) else [annotation]


def _type(annotation: Any, imports: Imports) -> str:
    """An annotation as Python source: wide in what may be given, and without names of other modules' aliases."""
    kinds = [_single(one, imports) for one in _alternatives(annotation)]
    nullable = annotation is None or types.NoneType in get_args(annotation)
    return " | ".join([*dict.fromkeys(kinds), *(["None"] if nullable else [])])


def _single(kind: Any, imports: Imports) -> str:
    origin, inner = get_origin(kind) or kind, get_args(kind)
    if kind is Any:
        return "Any"
    if origin is Literal or (isinstance(kind, type) and issubclass(kind, Enum)):
        values = inner or tuple(one.value for one in kind)
        return f"{imports.name('typing', 'Literal')}[{', '.join(map(repr, values))}]"
    if origin in (list, tuple, set, frozenset):
        return f"{imports.name('collections.abc', 'Sequence')}[{_type(inner[0], imports) if inner else 'Any'}]"
    if origin is dict:
        return f"Mapping[{', '.join(_type(one, imports) for one in inner) or 'str, Any'}]"
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return f"{imports.of(kind)} | Mapping[str, Any]"
    return imports.of(kind)


def _told(action: type[AnyAction], fields: dict[str, FieldInfo]) -> str:
    """The docstring: the declaration's own words, then its parameters."""
    whole = " ".join((inspect.getdoc(action) or "").split())
    summary, _, rest = whole.partition(". ")
    lines = [f"{summary.rstrip('.')}."]
    lines += ["", textwrap.fill(rest, _WIDTH - 8)] if rest else []
    meanings = {name: _meaning(action.verb, field.alias or name, field) for name, field in fields.items()}
    described = [
        textwrap.fill(f"{_spelled(name)}: {said}", _WIDTH - 8, initial_indent="    ", subsequent_indent="        ")
        for name, said in meanings.items()
        if said
    ]
    return "\n".join([*lines, *(["", "Args:", *described] if described else [])])


def _meaning(verb: str, name: str, field: FieldInfo) -> str:
    said = field.description or _MEANINGS.get(f"{verb}.{name}") or _MEANINGS.get(name) or ""
    return re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", " ".join(said.split()))


def _read_meanings() -> dict[str, str]:
    """The words that the reference of the tools adds; read as source, because its module needs the whole server."""
    module = ast.parse((ROOT / "tests" / "generated.py").read_text("utf-8"))
    found = next(
        node.value
        for node in module.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "MEANINGS"
    )
    meanings: dict[str, str] = ast.literal_eval(found)
    return meanings


_MEANINGS = _read_meanings()


# Twins


def _public(file: str, owner: str) -> Iterator[ast.AsyncFunctionDef]:
    """The public async methods of a class, in its order."""
    for node in ast.parse((PACKAGE / file).read_text("utf-8")).body:
        if isinstance(node, ast.ClassDef) and node.name == owner:
            for one in node.body:
                if isinstance(one, ast.AsyncFunctionDef) and not one.name.startswith("_") and not one.decorator_list:
                    yield one


def _twin(node: ast.AsyncFunctionDef, file: str, imports: Imports) -> str:
    names = [one.arg for one in (*node.args.args, *node.args.kwonlyargs) if one.arg != "self"]
    returned = ast.unparse(node.returns or ast.Constant(None))
    origins = _origins(file)
    for one in ast.walk(node.args), ast.walk(node.returns or ast.Constant(None)):
        for name in one:
            if isinstance(name, ast.Name) and name.id in origins and name.id != _HANDLE:
                imports.name(origins[name.id], name.id)
    given = "".join(f", {name}={name}" for name in names)
    call = f'self._wait("{node.name}"{given})'
    body = f"{call}" if returned == "None" else f"answer: {returned} = {call}\n        return answer"
    if returned == _HANDLE:
        # Its parameters as they are: a start has so many that naming them once more would say nothing.
        body = f'given = locals()\n        del given["self"]\n        return self._handle("{node.name}", **given)'
    doc = _docstring(ast.get_docstring(node) or "")
    return f"    def {node.name}({ast.unparse(node.args)}) -> {returned}:\n{doc}\n        {body}\n"


def _origins(file: str) -> dict[str, str]:
    """Where each name that a module imports comes from."""
    module = ast.parse((PACKAGE / file).read_text("utf-8"))
    return {
        name.asname or name.name: node.module or ""
        for node in module.body
        if isinstance(node, ast.ImportFrom)
        for name in node.names
    }


def _docstring(text: str) -> str:
    raw = "r" if "\\" in text else ""
    end = "\n" if "\n" in text else ""
    return textwrap.indent(f'{raw}"""{text}{end}"""', " " * 8, lambda line: bool(line.strip()))


if __name__ == "__main__":
    PLACE.write_text(text(), "utf-8")
