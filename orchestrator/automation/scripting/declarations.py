"""Rewrite a script's top-level declarations into globals, so that they persist."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Language, Node

_FUNCTIONS = {"function_declaration", "generator_function_declaration"}
_SCOPES = {
    *_FUNCTIONS,
    "function_expression",
    "generator_function",
    "arrow_function",
    "method_definition",
    "class_static_block",
}
"""Nodes with a scope for `var`."""
_NAMES = {"identifier", "shorthand_property_identifier_pattern"}


@dataclass
class Script:
    """A script split into two parts that keep its line numbers: top-level functions, and the body of a function.

    Attributes:
        source: The script as it was written, without its imports.
        number: Its number in its world.
        functions: Its top-level functions, evaluated as a script; empty if there are none.
        body: The rest.
        names: The names that it declares at the top level.
        imports: Its import declarations.
        readable: False if its declarations could not be parsed: they are local to the call then.
    """

    source: str
    number: int
    functions: str
    body: str
    names: list[str]
    imports: list[Node] = field(default_factory=list)
    readable: bool = True

    @property
    def source_url_comment(self) -> str:
        """A comment that names the script, so that errors can locate their line."""
        return f"//# sourceURL=script-{self.number}"


@dataclass
class Edits:
    """Replacements in a source, and the names that it declares."""

    source: bytes
    names: dict[str, None] = field(default_factory=dict)
    replacements: list[tuple[int, int, bytes]] = field(default_factory=list)

    def put(self, begin: int, end: int, text: bytes = b"") -> None:
        """Replace a part; parts must not overlap."""
        self.replacements.append((begin, end, text))

    def blank(self, node: Node) -> None:
        """Remove a statement, but for its line breaks."""
        self.put(node.start_byte, node.end_byte, b";" + _newlines(self.source[node.start_byte : node.end_byte]))

    def apply(self) -> str:
        """Return the source with the replacements."""
        text, at = [], 0
        for begin, end, new in sorted(self.replacements):
            text += [self.source[at:begin], new]
            at = end
        return b"".join([*text, self.source[at:]]).decode()


def parse_script(source: str, number: int) -> Script:
    """Rewrite a script's top-level declarations as assignments to globals.

    These are `let`, `const`, `class` and functions at the top level, and `var` at any depth outside of functions.
    """
    code = source.encode()
    tree = parse_tree(code)
    if tree.has_error:
        return Script(source, number, "", source, [], readable=False)
    edits, without_imports = Edits(code), Edits(code)
    imports = [node for node in tree.children if node.type == "import_statement"]
    for node in imports:
        edits.blank(node)
        without_imports.blank(node)
    functions = [node for node in tree.children if node.type in _FUNCTIONS]
    for node in functions:
        _declare_name(node, edits)
        edits.blank(node)
    for node in tree.children:
        if node.type == "lexical_declaration":
            _assign(node, edits, b"void 0")
        elif node.type == "class_declaration":
            name = _declare_name(node, edits)
            edits.put(node.start_byte, node.start_byte, b"0, " + name + b" = ")
            edits.put(node.end_byte, node.end_byte, b";")
    for node in _vars(tree):
        if node.type == "variable_declaration":
            _assign(node, edits, b"0")
        else:
            _assign_in_loop(node, edits)
    separate = _extract([*_directives(tree), *functions], code) if functions else ""
    return Script(without_imports.apply(), number, separate, edits.apply(), list(edits.names), imports)


def parse_tree(code: bytes) -> Node:
    """Return the syntax tree of a source."""
    from tree_sitter import Parser  # noqa: PLC0415 (not installed everywhere)

    return Parser(_language()).parse(code).root_node


def _assign(declaration: Node, edits: Edits, nothing: bytes) -> None:
    """Write `var a = 1, {b} = c, d` as `0, a = 1, ({b} = c), 0;`: a leading number continues no previous line."""
    keyword, last = declaration.children[0], declaration.children[-1]
    edits.put(keyword.start_byte, keyword.end_byte, b"0,")
    for node in declaration.named_children:
        if node.type != "variable_declarator":
            continue
        target = node.child_by_field_name("name")
        if target is None:
            continue
        declare_targets(target, edits)
        if node.child_by_field_name("value") is None:
            text = edits.source[target.start_byte : target.end_byte]
            edits.put(target.start_byte, target.end_byte, nothing if nothing == b"0" else text + b" = " + nothing)
        elif target.type != "identifier":
            edits.put(node.start_byte, node.start_byte, b"(")
            edits.put(node.end_byte, node.end_byte, b")")
    if last.type != ";":
        edits.put(declaration.end_byte, declaration.end_byte, b";")


def _assign_in_loop(loop: Node, edits: Edits) -> None:
    """Write `for (var a of b)` as `for ((a) of b)`: with parentheses, since `for (async of …)` is no valid code."""
    keyword, target = loop.child_by_field_name("kind"), loop.child_by_field_name("left")
    if keyword is None or target is None:
        return
    declare_targets(target, edits)
    edits.put(keyword.start_byte, keyword.end_byte)
    if target.type == "identifier":
        text = edits.source[target.start_byte : target.end_byte]
        edits.put(target.start_byte, target.end_byte, b"(" + text + b")")


def _vars(tree: Node) -> Iterator[Node]:
    """The declarations and loops with `var` outside of functions."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        kind = node.child_by_field_name("kind") if node.type == "for_in_statement" else None
        if node.type == "variable_declaration" or (kind is not None and kind.type == "var"):
            yield node
        waiting += [child for child in node.named_children if child.type not in _SCOPES]


def declare_targets(target: Node, edits: Edits) -> None:
    """Add the names that a declaration's target binds."""
    waiting = [target]
    while waiting:
        node = waiting.pop()
        if node.type in _NAMES:
            edits.names[text_of(node)] = None
        elif node.type in {"assignment_pattern", "object_assignment_pattern"}:
            left = node.child_by_field_name("left")
            waiting += [left] if left is not None else []
        elif node.type == "pair_pattern":
            value = node.child_by_field_name("value")
            waiting += [value] if value is not None else []
        else:
            waiting += node.named_children


def _declare_name(declaration: Node, edits: Edits) -> bytes:
    name = declaration.child_by_field_name("name")
    text = b"" if name is None else name.text or b""
    edits.names[text.decode()] = None
    return text


def text_of(node: Node) -> str:
    """Return the source of a node."""
    return (node.text or b"").decode()


def _directives(tree: Node) -> Iterator[Node]:
    """Directives such as `'use strict'`, at the beginning of the script."""
    for node in tree.named_children:
        if node.type == "comment":
            continue
        if node.type != "expression_statement" or [child.type for child in node.named_children] != ["string"]:
            return
        yield node


def _extract(nodes: list[Node], code: bytes) -> str:
    """The code of these nodes only, on their original lines."""
    text, at = [], 0
    for node in sorted(nodes, key=lambda node: node.start_byte):
        text += [_newlines(code[at : node.start_byte]), code[node.start_byte : node.end_byte]]
        at = node.end_byte
    return b"".join(text).decode()


def _newlines(code: bytes) -> bytes:
    return b"\n" * code.count(b"\n")


@functools.cache
def _language() -> Language:
    import tree_sitter_javascript  # noqa: PLC0415 (not installed everywhere)
    from tree_sitter import Language  # noqa: PLC0415 (not installed everywhere)

    return Language(tree_sitter_javascript.language())
