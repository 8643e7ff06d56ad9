"""Modules that scripts import from the operator's folder, rewritten for the engine."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.automation.scripting.declarations import Edits, declare_targets, parse_tree, text_of
from orchestrator.errors import InvalidArgument, quoted

if TYPE_CHECKING:
    from tree_sitter import Node

_ENDINGS = frozenset({".js", ".mjs"})
_MOST_BYTES = 1_000_000
"""Bytes of a module."""
_MOST = 100
"""Modules that one script may bring, with those that they import."""
_HOW = "Scripts import files such as 'guests.js', which whoever runs this server has put there."


@dataclass(frozen=True)
class Import:
    """An import declaration: the file that it names, and by local name what it takes; `*` is the whole module."""

    specifier: str
    names: dict[str, str]


@dataclass
class Module:
    """A module as the engine evaluates it.

    Attributes:
        path: Its path in the folder, its one name in a world.
        imports: The paths of the modules that it imports.
        body: The body of a function of `exports$` and `imported$`, with the lines of the file.
    """

    path: str
    imports: list[str]
    body: str


@dataclass
class _Exports:
    """The exports of a module: an expression by name, and the modules whose exports are its own."""

    expressions: dict[str, str] = field(default_factory=dict)
    all_of: list[str] = field(default_factory=list)


class ScriptModules:
    """The modules in the operator's folder; anything outside of it cannot be imported.

    Args:
        folder: The setting `script_modules`; None if there is none.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def resolve(self, specifier: str, importer: str = "") -> str:
        """Return the path in the folder of the module that a script, or another module, names.

        Raises:
            InvalidArgument: There is no such module.
        """
        if self._folder is None:
            raise InvalidArgument(
                "A script can import nothing here.", hint="The setting script_modules names a folder."
            )
        root = self._folder.expanduser().resolve()
        beside = specifier.startswith(("./", "../")) and importer
        file = self._find(root, root / (Path(importer).parent if beside else "") / specifier)
        if file is None:
            raise InvalidArgument(f"There is no module {quoted(specifier)} in script_modules.", hint=_HOW)
        return file.relative_to(root).as_posix()

    def _find(self, root: Path, path: Path) -> Path | None:
        """Return the file without links, if it is a module below the folder."""
        try:
            file = path.resolve()
            return file if file.is_relative_to(root) and file.suffix in _ENDINGS and file.is_file() else None
        except (OSError, ValueError, RuntimeError):  # a null character, too long, a loop of links
            return None

    def load(self, path: str, known: frozenset[str]) -> list[Module]:
        """Return a module and those that it imports, each after its own imports, but for the `known` ones.

        Raises:
            InvalidArgument: One cannot be read or parsed, or two import each other.
        """
        modules: dict[str, Module] = {}
        self._add(path, known, modules, ())
        return [*modules.values()]

    def _add(self, path: str, known: frozenset[str], modules: dict[str, Module], above: tuple[str, ...]) -> None:
        if path in above:
            raise InvalidArgument(f"Modules import each other: {' → '.join((*above, path))}.", hint="Untie them.")
        if path in known or path in modules:
            return
        module = self._parse(path)
        for other in module.imports:
            self._add(other, known, modules, (*above, path))
        if len(modules) >= _MOST:
            raise InvalidArgument(f"A script imports more than {_MOST} modules.", hint="Join some of them.")
        modules[path] = module

    def _parse(self, path: str) -> Module:
        file = (self._folder or Path()).expanduser().resolve() / path
        try:
            if file.stat().st_size > _MOST_BYTES:
                raise InvalidArgument(f"The module {path} has more than 1 MB.", hint="Split it.")
            code = file.read_bytes()
            code.decode()
        except OSError as error:
            raise InvalidArgument(f"The module {path} cannot be read: {error.strerror}.", hint=_HOW) from None
        except UnicodeError:
            raise InvalidArgument(f"The module {path} is not UTF-8.", hint="Save it as UTF-8.") from None
        tree = parse_tree(code)
        if tree.has_error:
            raise InvalidArgument(f"The module {path} is not valid JavaScript.", hint="Correct the file.")
        return self._rewrite(path, tree, code)

    def _rewrite(self, path: str, tree: Node, code: bytes) -> Module:
        edits, exports = Edits(code), _Exports()
        heads: list[str] = []
        imports: dict[str, None] = {}
        for node in tree.children:
            source = node.child_by_field_name("source")
            if source is not None:
                imports[self.resolve(_string(source), path)] = None
            if node.type == "import_statement" and (declared := read_import(node)):
                heads += [*_constants(declared, self.resolve(declared.specifier, path))]
                edits.blank(node)
            elif node.type == "export_statement":
                _export(node, edits, exports, "" if source is None else self.resolve(_string(source), path))
        getters = [
            f"{json.dumps(name)}: {{enumerable: true, get: () => {expression}}}"
            for name, expression in exports.expressions.items()
        ]
        heads.append(f"Object.defineProperties(exports$, {{{', '.join(getters)}}});")
        heads += [
            f"Object.assign(exports$, {{...imported$({json.dumps(one)}), default: undefined}});"
            for one in exports.all_of
        ]
        return Module(path, [*imports], f"'use strict'; {' '.join(heads)} {edits.apply()}")


def read_import(node: Node) -> Import | None:
    """Read an import declaration; None if it has no source."""
    source = node.child_by_field_name("source")
    if source is None:
        return None
    clause = next((child for child in node.named_children if child.type == "import_clause"), None)
    return Import(_string(source), dict(_bindings(clause)) if clause is not None else {})


def _bindings(clause: Node) -> Iterator[tuple[str, str]]:
    for part in clause.named_children:
        if part.type == "identifier":
            yield text_of(part), "default"
        elif part.type == "namespace_import":
            yield text_of(part.named_children[0]), "*"
        for one in part.named_children if part.type == "named_imports" else ():
            name, alias = one.child_by_field_name("name"), one.child_by_field_name("alias")
            if name is not None:
                yield text_of(alias or name), _name(name)


def _constants(declared: Import, path: str) -> Iterator[str]:
    module = f"imported$({json.dumps(path)})"
    for local, taken in declared.names.items():
        value = module if taken == "*" else f"{module}[{json.dumps(taken)}]"
        yield f"const {local} = {value};"


def _export(node: Node, edits: Edits, exports: _Exports, source: str) -> None:
    """Note what an export statement exports, and rewrite it as an ordinary statement."""
    declaration, value = node.child_by_field_name("declaration"), node.child_by_field_name("value")
    is_default = any(child.type == "default" for child in node.children)
    if declaration is not None or value is not None:
        _export_declared(node, edits, exports, is_default=is_default)
        return
    module = f"imported$({json.dumps(source)})"
    clause = next((child for child in node.named_children if child.type == "export_clause"), None)
    namespace = next((child for child in node.named_children if child.type == "namespace_export"), None)
    for one in clause.named_children if clause is not None else ():
        name, alias = one.child_by_field_name("name"), one.child_by_field_name("alias")
        if name is not None:
            taken = f"{module}[{json.dumps(_name(name))}]" if source else text_of(name)
            exports.expressions[_name(alias or name)] = taken
    if namespace is not None:
        exports.expressions[_name(namespace.named_children[0])] = module
    elif clause is None:
        exports.all_of.append(source)
    edits.blank(node)


def _export_declared(node: Node, edits: Edits, exports: _Exports, *, is_default: bool) -> None:
    declared = node.child_by_field_name("declaration") or node.child_by_field_name("value")
    if declared is None:
        return
    named = declared.child_by_field_name("name")
    if is_default and (named is None or node.child_by_field_name("value") is not None):
        edits.put(node.start_byte, declared.start_byte, b"const default$ = ")
        exports.expressions["default"] = "default$"
        return
    edits.put(node.start_byte, declared.start_byte)
    if is_default and named is not None:
        exports.expressions["default"] = text_of(named)
        return
    names = Edits(edits.source)
    for target in [named] if named is not None else _targets(declared):
        declare_targets(target, names)
    exports.expressions |= {name: name for name in names.names}


def _targets(declaration: Node) -> Iterator[Node]:
    for one in declaration.named_children:
        target = one.child_by_field_name("name") if one.type == "variable_declarator" else None
        if target is not None:
            yield target


def _name(node: Node) -> str:
    return _string(node) if node.type == "string" else text_of(node)


def _string(node: Node) -> str:
    return text_of(node)[1:-1]
