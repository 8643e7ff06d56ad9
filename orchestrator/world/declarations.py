"""Makes what a script declares at its top live on: its declarations become assignments to globals, line by line."""

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
"""What has vars of its own."""
_NAMES = {"identifier", "shorthand_property_identifier_pattern"}


@dataclass
class Script:
    """A script in two parts of as many lines: what is evaluated as a script of its own, and the body of a function.

    Attributes:
        source: All of it as it was written.
        number: Which of its world's it is.
        functions: Its functions at the top; empty when there are none.
        body: The rest.
        names: What it declares at the top.
        readable: False where the script's declarations were not understood: they are the call's own then.
    """

    source: str
    number: int
    functions: str
    body: str
    names: list[str]
    readable: bool = True

    @property
    def mark(self) -> str:
        """A comment that gives it the name by which errors tell where they are."""
        return f"//# sourceURL=script-{self.number}"


@dataclass
class _Edits:
    source: bytes
    names: dict[str, None] = field(default_factory=dict)
    made: list[tuple[int, int, bytes]] = field(default_factory=list)

    def put(self, begin: int, end: int, text: bytes = b"") -> None:
        self.made.append((begin, end, text))

    def done(self) -> str:
        text, at = [], 0
        for begin, end, new in sorted(self.made):
            text += [self.source[at:begin], new]
            at = end
        return b"".join([*text, self.source[at:]]).decode()


def read(source: str, number: int) -> Script:
    """Find what a script declares at its top, and write it as assignments to globals.

    A `var` counts at any depth outside of functions, as in any script; `let`, `const`, `class` and functions do where
    they stand at the top.
    """
    from tree_sitter import Parser  # noqa: PLC0415 (an extra)

    code = source.encode()
    tree = Parser(_language()).parse(code).root_node
    if tree.has_error:
        return Script(source, number, "", source, [], readable=False)
    edits = _Edits(code)
    kept = [one for one in tree.children if one.type in _FUNCTIONS]
    for one in kept:
        _name(one, edits)
        edits.put(one.start_byte, one.end_byte, b";" + _lines(code[one.start_byte : one.end_byte]))
    for one in tree.children:
        if one.type == "lexical_declaration":
            _assign(one, edits, b"void 0")
        elif one.type == "class_declaration":
            name = _name(one, edits)
            edits.put(one.start_byte, one.start_byte, b"0, " + name + b" = ")
            edits.put(one.end_byte, one.end_byte, b";")
    for one in _vars(tree):
        if one.type == "variable_declaration":
            _assign(one, edits, b"0")
        else:
            _assign_in_loop(one, edits)
    functions = _only([*_directives(tree), *kept], code) if kept else ""
    return Script(source, number, functions, edits.done(), list(edits.names))


def _assign(declaration: Node, edits: _Edits, nothing: bytes) -> None:
    """`var a = 1, {b} = c, d` as `0, a = 1, ({b} = c), 0;`: a number goes on from no line before it."""
    keyword, last = declaration.children[0], declaration.children[-1]
    edits.put(keyword.start_byte, keyword.end_byte, b"0,")
    for one in declaration.named_children:
        if one.type != "variable_declarator":
            continue
        target = one.child_by_field_name("name")
        if target is None:
            continue
        _note(target, edits)
        if one.child_by_field_name("value") is None:
            text = edits.source[target.start_byte : target.end_byte]
            edits.put(target.start_byte, target.end_byte, nothing if nothing == b"0" else text + b" = " + nothing)
        elif target.type != "identifier":
            edits.put(one.start_byte, one.start_byte, b"(")
            edits.put(one.end_byte, one.end_byte, b")")
    if last.type != ";":
        edits.put(declaration.end_byte, declaration.end_byte, b";")


def _assign_in_loop(loop: Node, edits: _Edits) -> None:
    """`for (var a of b)` as `for ((a) of b)`, since `async` alone may not stand there."""
    keyword, target = loop.child_by_field_name("kind"), loop.child_by_field_name("left")
    if keyword is None or target is None:
        return
    _note(target, edits)
    edits.put(keyword.start_byte, keyword.end_byte)
    if target.type == "identifier":
        text = edits.source[target.start_byte : target.end_byte]
        edits.put(target.start_byte, target.end_byte, b"(" + text + b")")


def _vars(tree: Node) -> Iterator[Node]:
    """The declarations and loops with `var` that are the script's own."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        kind = node.child_by_field_name("kind") if node.type == "for_in_statement" else None
        if node.type == "variable_declaration" or (kind is not None and kind.type == "var"):
            yield node
        waiting += [one for one in node.named_children if one.type not in _SCOPES]


def _note(target: Node, edits: _Edits) -> None:
    """The names that a target of a declaration binds."""
    waiting = [target]
    while waiting:
        node = waiting.pop()
        if node.type in _NAMES:
            edits.names[_text(node)] = None
        elif node.type in {"assignment_pattern", "object_assignment_pattern"}:
            left = node.child_by_field_name("left")
            waiting += [left] if left is not None else []
        elif node.type == "pair_pattern":
            value = node.child_by_field_name("value")
            waiting += [value] if value is not None else []
        else:
            waiting += node.named_children


def _name(declaration: Node, edits: _Edits) -> bytes:
    name = declaration.child_by_field_name("name")
    text = b"" if name is None else name.text or b""
    edits.names[text.decode()] = None
    return text


def _text(node: Node) -> str:
    return (node.text or b"").decode()


def _directives(tree: Node) -> Iterator[Node]:
    """`'use strict'` and the like, which stand before all else."""
    for one in tree.named_children:
        if one.type == "comment":
            continue
        if one.type != "expression_statement" or [inner.type for inner in one.named_children] != ["string"]:
            return
        yield one


def _only(nodes: list[Node], code: bytes) -> str:
    """The code of these alone, each on the lines where it was."""
    text, at = [], 0
    for one in sorted(nodes, key=lambda node: node.start_byte):
        text += [_lines(code[at : one.start_byte]), code[one.start_byte : one.end_byte]]
        at = one.end_byte
    return b"".join(text).decode()


def _lines(code: bytes) -> bytes:
    return b"\n" * code.count(b"\n")


@functools.cache
def _language() -> Language:
    import tree_sitter_javascript  # noqa: PLC0415 (an extra)
    from tree_sitter import Language  # noqa: PLC0415 (an extra)

    return Language(tree_sitter_javascript.language())
