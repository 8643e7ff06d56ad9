"""Completion in bash, zsh and fish: their scripts, and the words that can follow."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

from orchestrator.cli.argument_parser import ArgumentParser
from orchestrator.cli.tool_commands import KINDS, OWN_WORDS, SESSION_ID, Command, find_command, list_words
from orchestrator.cli.tool_parser import make_parser

_SCRIPTS = {
    "bash": """\
_orchestrator() {
    local IFS=$'\\n' found
    found=$("${COMP_WORDS[0]}" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
    COMPREPLY=($(compgen -W "$found" -- "${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _orchestrator orchestrator webdriver-orchestrator
""",
    "zsh": """\
#compdef orchestrator webdriver-orchestrator
_orchestrator() {
    local -a found
    found=("${(@f)$("${words[1]}" __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    if [[ -n "$found" ]]; then compadd -- "${found[@]}"; else _files; fi
}
compdef _orchestrator orchestrator webdriver-orchestrator
""",
    "fish": """\
function __orchestrator_complete
    set -l words (commandline -opc)
    $words[1] __complete $words[2..-1] (commandline -ct) 2>/dev/null
end
complete -c orchestrator -a '(__orchestrator_complete)'
complete -c webdriver-orchestrator -a '(__orchestrator_complete)'
""",
}
_SESSION_OPTIONS = ("-s", "--session")


def run(words: Sequence[str]) -> int:
    """Print the script that makes a shell complete commands; returns the exit code.

    Raises:
        InvalidArgument: The shell is none of bash, zsh and fish.
    """
    parser = ArgumentParser(prog="orchestrator completion", description=OWN_WORDS["completion"])
    parser.add_argument("shell", choices=[*_SCRIPTS], help="The shell that is to read it.")
    sys.stdout.write(_SCRIPTS[parser.parse_args(words).shell])
    return 0


def complete(words: Sequence[str]) -> int:
    """Print the words that the last one of these can become, one a line; returns the exit code."""
    *before, begun = words or [""]
    sys.stdout.writelines(f"{word}\n" for word in candidates(before, begun) if word.startswith(begun))
    return 0


def candidates(before: Sequence[str], begun: str) -> Iterable[str]:
    """Return the words that can follow those before it."""
    # bash hands over `-s=name` as three words.
    option = before[-2:-1] if before[-1:] == ["="] else before[-1:]
    if option and option[0] in _SESSION_OPTIONS:
        return _session_ids()
    if begun.partition("=")[0] in _SESSION_OPTIONS:
        return [f"{begun.partition('=')[0]}={session_id}" for session_id in _session_ids()]
    if not before:
        from orchestrator.cli.actions import list_installed_commands

        return sorted({*list_words(), *OWN_WORDS, *_other_words(()), *list_installed_commands()})
    if before[0] == "completion":
        return _SCRIPTS
    found = find_command([*before]) or _find_installed_command(before)
    if found is None:
        return _other_words(before)
    command, rest = found
    kinds = KINDS if [*before] == ["start"] else ()
    sessions = _session_ids() if SESSION_ID in command.positional else ()
    return [*kinds, *sessions, *_words_of_parser(make_parser(command), rest)]


def _find_installed_command(words: Sequence[str]) -> tuple[Command, list[str]] | None:
    from orchestrator.cli.actions import find_installed_command

    return None if words[0] in _other_words(()) else find_installed_command(words)


def _words_of_parser(parser: ArgumentParser, rest: Sequence[str]) -> list[str]:
    """Return the options that a parser takes and the values of its positional arguments, or those of the option."""
    actions = parser._actions  # noqa: SLF001 — argparse has no other way to list them
    last = next((action for action in actions if rest and rest[-1] in action.option_strings), None)
    if last is not None and last.nargs != 0:
        return [*map(str, last.choices or ())]
    options = [option for action in actions for option in action.option_strings if option.startswith("--")]
    values = [str(value) for action in actions if not action.option_strings for value in action.choices or ()]
    return [*values, *options]


def _other_words(before: Sequence[str]) -> list[str]:
    """Return the commands and options of the other commands, after these words."""
    import typer.main

    from orchestrator.cli.commands import app

    command = typer.main.get_command(app)
    for word in before:
        command = getattr(command, "commands", {}).get(word, command)
    options = [option for parameter in command.params for option in parameter.opts if option.startswith("--")]
    return [*getattr(command, "commands", ()), *options]


def _session_ids() -> list[str]:
    """Return the names of the open sessions, without creating anything."""
    from orchestrator.sessions.store.sqlite import FILE_NAME, SqliteStore
    from orchestrator.settings import Settings

    settings = Settings.load()
    if not (settings.home / FILE_NAME).exists():
        return []
    store = SqliteStore(settings.home)
    try:
        return [record.id for record in store.list_open(settings.namespace)]
    finally:
        store.disconnect()
