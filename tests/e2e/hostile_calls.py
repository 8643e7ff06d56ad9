"""Hostile tool calls: files, hosts, arguments and names, each with a name of its own and what it must end with.

`{project}`, `{outside}`, `{home}` and `{port}` stand for the folders and the site of the test. Arguments of starts
have their own tables in hostile_values.py; the two together are the collection of the suite.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from tests.e2e.hostile_values import HOSTILE

REFUSED = frozenset({"denied", "invalid_argument"})


class HostileCall(NamedTuple):
    """A call that must end with one of these codes."""

    tool: str
    arguments: Mapping[str, Any] = MappingProxyType({})
    codes: frozenset[str] = REFUSED


FILES = {
    # Places, directly.
    "of the machine": "/etc/passwd",
    "outside the project": "{outside}/secret.txt",
    "outside, not there": "{outside}/none.txt",
    "the root of the disk": "/",
    "the project itself": "{project}",
    "relative to the server": "secret.txt",
    "of the kernel": "/proc/self/environ",
    "the root by the kernel": "/proc/self/root/etc/passwd",
    "the folder by the kernel": "/proc/self/cwd/../../etc/passwd",
    "an open file by the kernel": "/proc/self/fd/0",
    "another process by the kernel": "/proc/1/cmdline",
    "standard input": "/dev/stdin",
    "an endless device": "/dev/zero",
    "a disk": "/dev/sda",
    "settings of the kernel": "/sys/kernel/notes",
    # Ways around.
    "dots": "{project}/../outside/secret.txt",
    "dots after a folder that is not there": "{project}/none/../../outside/secret.txt",
    "many dots": "{project}" + "/.." * 40 + "/etc/passwd",
    "dots and slashes": "{project}//..//./outside///secret.txt",
    "a dot behind": "{outside}/secret.txt/.",
    "a slash behind": "{outside}/secret.txt/",
    "spaces around": " {outside}/secret.txt ",
    "a folder that begins alike": "{project}-other/secret.txt",
    "encoded dots": "{project}/%2e%2e/outside/secret.txt",
    "encoded slashes": "{project}/..%2foutside%2fsecret.txt",
    "twice encoded": "{project}/%252e%252e/outside/secret.txt",
    "overlong dots": "{project}/\u00c0\u00ae\u00c0\u00ae/outside/secret.txt",
    "wide dots": "{project}/\uff0e\uff0e/outside/secret.txt",
    "a wide slash": "{project}/..\uff0foutside\uff0fsecret.txt",
    "a URL": "file://{outside}/secret.txt",
    "a URL of a host": "file://localhost{outside}/secret.txt",
    # Links and what is not a file.
    "a link": "{project}/link.txt",
    "a link to a folder": "{project}/folder/secret.txt",
    "a link to a link": "{project}/chain.txt",
    "a link to itself": "{project}/loop.txt",
    "a link to a device": "{project}/zero.txt",
    "dots behind a link": "{project}/folder/../outside/secret.txt",
    "a pipe": "{project}/pipe.txt",
    "a folder": "{project}/sub",
    # Shells, users and other systems.
    "a user": "~root/.ssh/id_rsa",
    "no such user": "~nobody-like-this/x",
    "the home": "~",
    "a key in the home": "~/.ssh/id_ed25519",
    "a variable": "$HOME/.ssh/id_rsa",
    "a program": "|cat /etc/passwd",
    "a substitution": "$(cat /etc/passwd)",
    "a share": "\\\\server\\share\\secret.txt",
    "a share with slashes": "//server/share/secret.txt",
    "a disk of Windows": "C:\\Windows\\win.ini",
    "a disk without a root": "C:secret.txt",
    "a device of Windows": "NUL",
    "a console of Windows": "CON.txt",
    "a stream of Windows": "{outside}/secret.txt::$DATA",
    "a long name of Windows": "\\\\?\\C:\\Windows\\win.ini",
    "a pipe of Windows": "\\\\.\\pipe\\x",
    "backslashes": "{project}\\..\\outside\\secret.txt",
    # Names.
    "hidden": "{project}/.env",
    "in a hidden folder": "{project}/.git/config",
    "hidden by a link": "{project}/env.txt",
    "a key": "{project}/server.pem",
    "a key in capitals": "{project}/SERVER.KEY",
    "a key's name": "{project}/id_ed25519",
    "the records": "{home}/sessions.db",
    "the operator's secrets": "{home}/secrets.toml",
    "a profile": "{home}/profiles/default/Cookies",
    "a null in the middle": "{project}/mine.txt\0/../../outside/secret.txt",
    "a null at the end": "{outside}/secret.txt\0.png",
    "a line break": "{outside}/secret.txt\n{project}/mine.txt",
    "two at once": "{project}/mine.txt,{outside}/secret.txt",
    "very long": "{project}/" + "x" * 5000,
    "very deep": "{project}" + "/x" * 5000,
    "empty": "",
    "a dot": ".",
}
"""Files that no call may read, nor write where another suffix is added to them."""

METADATA_HOSTS = {
    "plain": "169.254.169.254",
    "decimal": "2852039166",
    "hexadecimal": "0xA9FEA9FE",
    "octal": "0251.0376.0251.0376",
    "mixed": "169.0376.0xa9.254",
    "two parts": "169.16689662",
    "three parts": "169.254.43518",
    "leading zeros": "0000000000251.254.169.254",
    "a dot behind": "169.254.169.254.",
    "mapped": "[::ffff:169.254.169.254]",
    "mapped, in full": "[0:0:0:0:0:ffff:a9fe:a9fe]",
    "compatible": "[::169.254.169.254]",
    "translated": "[64:ff9b::169.254.169.254]",
    "statelessly translated": "[::ffff:0:169.254.169.254]",
    "tunnelled": "[2002:a9fe:a9fe::1]",
    "link-local": "[fe80::1]",
    "of Amazon": "[fd00:ec2::254]",
    "of Amazon, in full": "[fd00:0ec2:0:0:0:0:0:0254]",
    "of Google": "[fd20:ce::254]",
    "of Alibaba": "100.100.100.200",
    "of Oracle": "192.0.0.192",
    "of Azure's agent": "168.63.129.16",
    "of a container": "169.254.170.2",
    "a name of Google": "metadata.google.internal",
    "a name in capitals": "METADATA.Google.Internal",
    "a name with a dot behind": "metadata.google.internal.",
    "a short name of Amazon": "instance-data",
    "a short name of Google": "metadata",
    "a short name with a dot behind": "Metadata.",
    "encoded": "%31%36%39.254.169.254",
    "an encoded dot": "169%2e254%2e169%2e254",
    "wide": "\uff11\uff16\uff19.254.169.254",
    "circled": "\u2460\u2465\u2468.254.169.254",
    "ideographic dots": "169\u3002254\u3002169\u3002254",
    "a soft hyphen": "169\u00ad.254.169.254",
    "an invisible letter": "169.254.169\u200b.254",
    "a user": "shop.example@169.254.169.254",
    "a user and a password": "shop.example:80@169.254.169.254",
    "an encoded user": "shop.example%2f@169.254.169.254",
}
"""Spellings of hosts where clouds keep the keys of a machine."""

METADATA_URLS = {
    "a port": "http://169.254.169.254:8080/",
    "of a secure page": "https://169.254.169.254/",
    "capitals": "HTTP://169.254.169.254/",
    "three slashes": "http:///169.254.169.254/",
    "one slash": "http:/169.254.169.254/",
    "no slash": "http:169.254.169.254",
    "backslashes": "http:\\\\169.254.169.254\\",
    "a backslash before the user": "http://169.254.169.254\\@shop.example/",
    "a fragment like a host": "http://169.254.169.254#@shop.example/",
    "a query like a host": "http://169.254.169.254?@shop.example/",
    "a tab": "ht\ttp://169.254.169.254/",
    "a line break": "http://169.254.\n169.254/",
    "a null before": "\0http://169.254.169.254/",
    "spaces before": " \r\n http://169.254.169.254/",
    "source": "view-source:http://169.254.169.254/",
    "source of source": "view-source:view-source:http://169.254.169.254/",
    "two ports": "http://169.254.169.254:80:80/",
    "a zone": "http://[fe80::1%25eth0]/",
    "no host": "http://",
    "an unclosed bracket": "http://[::ffff:169.254.169.254/",
}
"""URLs of such pages."""

PAGES = {
    "settings of the browser": "chrome://settings",
    "capitals": "ChRoMe://version",
    "about": "about:config",
    "debugging tools": "devtools://devtools/bundled/inspector.html",
    "an extension": "chrome-extension://abcdefghijklmnopabcdefghijklmnop/x.html",
    "an error": "chrome-error://chromewebdata/",
    "untrusted": "chrome-untrusted://print",
    "another vendor's": "edge://settings",
    "a file": "file:///etc/passwd",
    "a file in capitals": "FILE:/etc/passwd",
    "a file with backslashes": "file:\\\\\\etc\\passwd",
    "a file without slashes": "file:etc/passwd",
    "a file with an encoded letter": "file:///%65tc/passwd",
    "a file with a tab": "fi\tle:///etc/passwd",
    "a file of this machine by its name": "file://localhost/etc/passwd",
    "a file of another machine": "file://server/share/x.html",
    "a file with encoded dots": "file://{project}/%2e%2e/outside/secret.txt",
    "a file by a link": "file://{project}/link.txt",
    "a file with a null": "file://{project}/mine.txt%00/../../outside/secret.txt",
    "a file's source": "view-source:file:///etc/passwd",
    "a file's source, twice": "view-source: view-source:file:///etc/passwd",
    "a file system": "filesystem:file:///temporary/x",
    "a blob of a file": "blob:file:///x",
    "an archive": "jar:file:///x.jar!/x",
    "a resource": "resource://gre/x",
}
"""Pages that no call may open."""

REMOTE_ADDRESSES = {
    "plain": "169.254.169.254:80",
    "a URL in the path": "169.254.169.254:80/a://b",
    "a URL in the query": "169.254.169.254:80?a://b",
    "another scheme": "ftp://169.254.169.254:80",
    "no scheme": "//169.254.169.254:80",
    "a user": "localhost@169.254.169.254:80",
    "a user with a port": "localhost:80@169.254.169.254:80",
    "a backslash": "169.254.169.254\\@localhost:80",
    "spaces": " 169.254.169.254:80",
    "a line break": "169.254.\n169.254:80",
    "link-local": "[fe80::1]:80",
    "a name": "metadata.google.internal:80",
}
"""Addresses beside the spellings above that this process may not connect to."""

_LONG = "a" * 65
NAMES = {
    "a session with dots": HostileCall("start_browser", {"sessionId": "../x"}),
    "a session with a slash": HostileCall("start_browser", {"sessionId": "a/b"}),
    "a session with a backslash": HostileCall("start_browser", {"sessionId": "a\\b"}),
    "a session with a null": HostileCall("start_browser", {"sessionId": "a\0b"}),
    "a session with a line break": HostileCall("start_browser", {"sessionId": "a\nSession: b"}),
    "a session that ends with a line break": HostileCall("start_browser", {"sessionId": "a\n"}),
    "a session with quotes": HostileCall("start_browser", {"sessionId": "a'; DROP TABLE sessions; --"}),
    "a session like a switch": HostileCall("start_browser", {"sessionId": "--no-sandbox"}),
    "a session of a star": HostileCall("start_browser", {"sessionId": "*"}),
    "a session without a name": HostileCall("start_browser", {"sessionId": ""}),
    "a session of a space": HostileCall("start_browser", {"sessionId": " "}),
    "a session too long": HostileCall("start_browser", {"sessionId": _LONG}),
    "a session in other letters": HostileCall("start_browser", {"sessionId": "\u0430dmin"}),
    "a session that turns around": HostileCall("start_browser", {"sessionId": "a\u202eb"}),
    "a session like a claim": HostileCall("start_browser", {"sessionId": "a~12345"}),
    "a context of a context": HostileCall("start_browser", {"sessionId": "a:b:c"}),
    "a context without a name": HostileCall("start_browser", {"sessionId": "a:"}),
    "a context with dots": HostileCall("start_browser", {"sessionId": "a:../b"}),
    "a session of a list": HostileCall("start_browser", {"sessionId": ["a"]}),
    "a fork with dots": HostileCall("fork_session", {"sessionId": "page", "as": "../x"}),
    "a fork over itself": HostileCall(
        "fork_session", {"sessionId": "page", "as": "page"}, REFUSED | {"session_exists"}
    ),
    "a profile with dots": HostileCall("start_browser", {"mode": "persistent", "profile": "../../x"}),
    "a profile of a path": HostileCall("start_browser", {"mode": "persistent", "profile": "/etc"}),
    "a profile of Windows' path": HostileCall("start_browser", {"mode": "persistent", "profile": "C:\\x"}),
    "a profile of dots": HostileCall("start_browser", {"mode": "persistent", "profile": ".."}),
    "a profile with a null": HostileCall("start_browser", {"mode": "persistent", "profile": "a\0b"}),
    "a profile too long": HostileCall("start_browser", {"mode": "persistent", "profile": _LONG}),
    "a profile without a name": HostileCall("start_browser", {"mode": "persistent", "profile": ""}),
    "a login of a stranger": HostileCall("start_browser", {"loginFrom": "../x"}, REFUSED | {"session_not_found"}),
    "a claim of a stranger": HostileCall(
        "click_element", {"sessionId": "page~00000", "selector": "#f"}, REFUSED | {"session_not_found"}
    ),
    "a claim with a path": HostileCall("click_element", {"sessionId": "page~../..", "selector": "#f"}),
    "a session of another namespace": HostileCall(
        "get_text", {"sessionId": "other/page"}, REFUSED | {"session_not_found"}
    ),
    "a prefix of everything": HostileCall("close_sessions", {"prefix": "%"}, frozenset({""})),
    "a prefix with a wildcard": HostileCall("close_sessions", {"prefix": "p_ge"}, frozenset({""})),
    "no prefix": HostileCall("close_sessions", {"prefix": ""}),
    "a browser of a path": HostileCall("start_browser", {"browser": "/bin/sh"}),
    "a provider of a path": HostileCall("start_session", {"provider": "../local", "platform": "browser"}),
    "a provider of Python's": HostileCall("start_session", {"provider": "__class__", "platform": "browser"}),
    "a device of a path": HostileCall("start_browser", {"device": "../../x"}),
    "a parameter of Python's": HostileCall("start_browser", {"__class__": "x"}),
    "a switch among the parameters": HostileCall("start_browser", {"--no-sandbox": True}),
    "a setting among the parameters": HostileCall("start_browser", {"unsafe_args": True}),
    "a setting among the options": HostileCall("start_browser", {"options": {"unsafe_args": True}}),
    "a setting of a step": HostileCall(
        "execute_sequence", {"actions": [{"action": "get_text", "file_roots": "/"}], "sessionId": "page"}
    ),
    "a door among the parameters": HostileCall("navigate", {"url": "about:blank", "door": "python"}),
    "a tab of a path": HostileCall("tabs", {"action": "select", "tab": "../t1"}, REFUSED | {"no_such_tab"}),
    "a tab of the driver's": HostileCall("tabs", {"action": "close", "tab": "CDwindow-1"}, REFUSED | {"no_such_tab"}),
    "a ref beyond": HostileCall(
        "click_element",
        {"selector": "e99999999999999999999", "timeout": 0},
        REFUSED | {"element_not_found", "stale_ref"},
    ),
    "a variable of the environment as a secret": HostileCall(
        "attach_session", {"remoteUrl": "secret:CANARY", "remoteSessionId": "x"}, REFUSED | {"provider_auth"}
    ),
    "a prefixed variable as a secret": HostileCall(
        "attach_session",
        {"remoteUrl": "secret:ORCHESTRATOR_SECRET_CANARY", "remoteSessionId": "x"},
        REFUSED | {"provider_auth"},
    ),
    "a path as a secret": HostileCall(
        "attach_session", {"remoteUrl": "secret:../secrets", "remoteSessionId": "x"}, REFUSED | {"provider_auth"}
    ),
    "no name of a secret": HostileCall(
        "attach_session", {"remoteUrl": "secret:", "remoteSessionId": "x"}, REFUSED | {"provider_auth"}
    ),
    "a secret in a URL": HostileCall(
        "attach_session",
        {"remoteUrl": "http://secret:CANARY@127.0.0.1:1", "remoteSessionId": "x"},
        REFUSED | {"remote_unreachable"},
    ),
}
"""Names that are none, or are another's; each call leaves sessions and files as they are."""

ARGUMENT_TRICKS = {
    "a program behind a language": "--lang=de --utility-cmd-prefix={mark}",
    "a program on a new line": "--lang=de\n--utility-cmd-prefix={mark}",
    "a program behind a quote": '--lang=de" --utility-cmd-prefix="{mark}',
    "a program behind a tab": "--user-agent=x\t--renderer-cmd-prefix={mark}",
    "a program as a size": "--window-size=800,600 --gpu-launcher={mark}",
    "a substitution": "--window-name=$({mark})",
    "backquotes": "--window-name=`{mark}`",
    "a second command": "--class=x; {mark}",
    "a pipe": "--proxy-server=127.0.0.1:1|{mark}",
    "an ampersand": "--proxy-bypass-list=*& {mark}",
}
"""Values of allowed switches that would run a program if anything read them as a command line."""


def names_of_all() -> list[str]:
    """Return the name of each hostile call of the suite."""
    tables: Mapping[str, Mapping[str, Any]] = {
        "file": FILES,
        "metadata host": METADATA_HOSTS,
        "metadata URL": METADATA_URLS,
        "page": PAGES,
        "remote address": REMOTE_ADDRESSES,
        "name": NAMES,
        "argument": ARGUMENT_TRICKS,
    }
    named = [f"{kind}: {name}" for kind, table in tables.items() for name in table]
    return named + [
        f"{parameter}: {case.value} {dict(case.others)}" for parameter, cases in HOSTILE.items() for case in cases
    ]
