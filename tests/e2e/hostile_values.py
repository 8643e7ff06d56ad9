"""Hostile values of parameters that could reach this machine: one table, from which tests call the server.

`tests/project/test_hostile_values.py` derives from the declarations which parameters need an entry.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple


class Hostile(NamedTuple):
    """A value that must be refused, part of the refusal, its code, and further arguments of the call."""

    value: Any
    named: str
    code: str = "denied"
    others: Mapping[str, Any] = MappingProxyType({})


def _switches(browser: str, *switches: str) -> list[Hostile]:
    return [Hostile([one], one.partition("=")[0], others={"browser": browser}) for one in switches]


def _inside(name: str, key: str, value: Any, named: str = "", **others: Any) -> Hostile:
    """Return a vendor's options with a hostile key."""
    return Hostile({name: {key: value}}, named or f"{name}.{key}", others=others)


CHROMIUM_SWITCHES = (
    "--utility-cmd-prefix=touch /var/x --",
    "--renderer-cmd-prefix=touch /var/x --",
    "--gpu-launcher=touch /var/x --",
    "--ppapi-plugin-launcher=touch /var/x --",
    "--browser-subprocess-path=/bin/sh",
    "--zygote-cmd-prefix=touch /var/x --",
    "utility-cmd-prefix=touch /var/x --",
    "---utility-cmd-prefix=touch /var/x --",
    "--Utility-Cmd-Prefix=touch /var/x --",
    "--load-extension=/var/x",
    "--disable-extensions-except=/var/x",
    "--pack-extension=/var/x",
    "--extensions-on-chrome-urls",
    "--allowlisted-extension-id=abc",
    "--load-component-extension=/var/x",
    "--load-apps=/var/x",
    "--install-chrome-app=abc",
    "--user-data-dir=/var/x/other",
    "--profile-directory=Default",
    "--disk-cache-dir=/var/x",
    "--crash-dumps-dir=/var/x",
    "--homedir=/var/x",
    "--log-file=/var/x/log",
    "--enable-logging",
    "--log-net-log=/var/x/net.json",
    "--trace-startup-file=/var/x/trace",
    "--screenshot=/var/x/x.png",
    "--print-to-pdf=/var/x/x.pdf",
    "--dump-dom",
    "--remote-debugging-port=9222",
    "--remote-debugging-address=0.0.0.0",
    "--remote-debugging-pipe",
    "--remote-debugging-socket-name=x",
    "--disable-web-security",
    "--disable-site-isolation-trials",
    "--allow-file-access-from-files",
    "--allow-file-access",
    "--allow-running-insecure-content",
    "--unsafely-treat-insecure-origin-as-secure=http://shop.test",
    "--ignore-certificate-errors",
    "--ignore-certificate-errors-spki-list=abc",
    "--allow-insecure-localhost",
    "--single-process",
    "--in-process-gpu",
    "--disable-gpu-sandbox",
    "--disable-seccomp-filter-sandbox",
    "--disable-namespace-sandbox",
    "--allow-sandbox-debugging",
    "--no-sandbox-and-elevated",
    "--host-resolver-rules=MAP * 127.0.0.1",
    "--host-rules=MAP * 127.0.0.1",
    "--disable-features=IsolateOrigins,site-per-process",
    "--disable-features=Translate,NetworkServiceSandbox",
    "--disable-features=BlockInsecurePrivateNetworkRequests",
    "--enable-features=NetworkServiceInProcess2",
    "--enable-blink-features=FileSystemAccessAPIExperimental",
    "--disable-blink-features=ForceTallerSelectPopup,X",
    "--blink-settings=webSecurityEnabled=false",
    "--js-flags=--logfile=/var/x/x --log",
    "--password-store=gnome-libsecret",
    "--app=file:///etc/passwd",
    "--use-file-for-fake-video-capture=/etc/passwd",
    "--auto-select-desktop-capture-source=Entire screen",
    "--register-protocol-handlers=x",
    "--ssl-key-log-file=/var/x/keys",
    "--external-web-browser=/bin/sh",
    "--display=far:0",
    "--",
    "file:///etc/passwd",
)

FIREFOX_SWITCHES = (
    "-profile",
    "--profile=/var/x",
    "-P",
    "-CreateProfile",
    "-no-remote",
    "-remote-debugging-port",
    "-start-debugger-server",
    "--remote-allow-hosts=far",
    "--screenshot=/var/x/x.png",
    "-chrome",
    "-app",
    "-url",
    "-jsconsole",
    "--backgroundtask=x",
    "file:///etc/passwd",
)

_VENDORS = (("chrome", "goog:chromeOptions"), ("edge", "ms:edgeOptions"))

_OPTIONS = [
    _inside(name, key, value, browser=browser)
    for browser, name in _VENDORS
    for key, value in (
        ("binary", "/bin/sh"),
        ("extensions", ["UEsDBA=="]),
        ("localState", {"browser.enabled_labs_experiments": ["x"]}),
        ("minidumpPath", "/var/x"),
        ("logPath", "/var/x/log"),
        ("debuggerAddress", "169.254.169.254:80"),
        ("userDataFolder", "/var/x"),
        ("windowsApp", "calc"),
        ("unknownOfTomorrow", True),
    )
]

BROWSER_CAPABILITIES = [
    *_OPTIONS,
    _inside("goog:chromeOptions", "args", ["--utility-cmd-prefix=x"], "--utility-cmd-prefix"),
    _inside("goog:chromeOptions", "args", "--utility-cmd-prefix=x"),
    _inside("goog:chromeOptions", "excludeSwitches", ["use-mock-keychain"], "excludeSwitches=use-mock-keychain"),
    _inside("goog:chromeOptions", "prefs", {"download": {"extensions_to_open": "sh"}}, "download.extensions_to_open"),
    _inside("goog:chromeOptions", "prefs", {"download.default_directory": "/var/x"}, "download.default_directory"),
    _inside(
        "goog:chromeOptions", "prefs", {"protocol_handler": {"excluded_schemes": {"x": False}}}, "excluded_schemes"
    ),
    _inside("goog:chromeOptions", "prefs", {"extensions.settings": {}}, "prefs.extensions.settings"),
    Hostile({"goog:chromeOptions": "--utility-cmd-prefix=x"}, "goog:chromeOptions"),
    # Options of one browser in the start of another.
    _inside("moz:firefoxOptions", "binary", "/bin/sh"),
    *(
        _inside("moz:firefoxOptions", key, value, named, browser="firefox")
        for key, value, named in (
            ("binary", "/bin/sh", ""),
            ("profile", "UEsDBA==", ""),
            ("env", {"LD_PRELOAD": "/var/x/x.so"}, "env.LD_PRELOAD"),
            ("env", {"MOZ_LOG_FILE": "/var/x/log"}, "env.MOZ_LOG_FILE"),
            ("args", ["-profile", "/var/x"], "-profile"),
            ("args", ["-width", "file:///etc/passwd"], "-width"),
            ("prefs", {"security.sandbox.content.level": 0}, "security.sandbox.content.level"),
            ("prefs", {"browser.download.dir": "/var/x"}, "browser.download.dir"),
            ("log", {"level": "trace", "file": "/var/x/log"}, "log.file"),
            ("androidPackage", "org.x", ""),
        )
    ),
    _inside("webkitgtk:browserOptions", "binary", "/bin/sh", browser="webkitgtk"),
    _inside("webkitgtk:browserOptions", "args", ["--cookies-file=/var/x/x"], "--cookies-file", browser="webkitgtk"),
    _inside("webkitgtk:browserOptions", "certificates", [], browser="webkitgtk"),
    Hostile({"moz:debuggerAddress": True}, "moz:debuggerAddress"),
    Hostile({"safari:experimentalWebDriverFeature": True}, "safari:experimentalWebDriverFeature"),
    Hostile({"appium:chromedriverExecutable": "/bin/sh"}, "appium:chromedriverExecutable"),
    Hostile({"unknown:vendor": "/bin/sh"}, "unknown:vendor"),
    Hostile({"chromeOptions": {"binary": "/bin/sh"}}, "Write 'goog:chromeOptions'", "invalid_argument"),
    Hostile({"mjsonwpCaps": {}}, "mjsonwpCaps", "invalid_argument"),
    Hostile({"alwaysMatch": {"goog:chromeOptions": {"binary": "/bin/sh"}}}, "without this level", "invalid_argument"),
]

_PROGRAMS = {
    "chromedriverExecutable": "/bin/sh",
    "chromedriverExecutableDir": "/var/x",
    "chromedriverChromeMappingFile": "/var/x/x",
    "chromedriverArgs": {"log-path": "/var/x/x"},
    "avdArgs": "-kernel /var/x/x",
    "avdEnv": {"LD_PRELOAD": "/var/x/x"},
    "buildToolsVersion": "../../../../var/x",
    "keystorePath": "/var/x/x",
    "remoteAdbHost": "far",
    "adbPort": 5038,
    "adbListenAllNetwork": True,
    "mjpegScreenshotUrl": "http://169.254.169.254/",
    "espressoBuildConfig": "/var/x/x",
    "prerun": {"script": "touch /var/x"},
    "postrun": {"script": "touch /var/x"},
    "unknownOfTomorrow": True,
}
_OF_IOS = {
    "agentPath": "/var/x/x",
    "bootstrapPath": "/var/x",
    "prebuiltWDAPath": "/var/x/x",
    "derivedDataPath": "/var/x",
    "xcodeConfigFile": "/var/x/x",
    "xcodeOrgId": "A\nCC = /var/x/x",
    "updatedWDABundleId": "a;b",
    "keychainPath": "/var/x/x",
    "customSSLCert": "x",
    "resultBundlePath": "/var/x",
    "simulatorDevicesSetPath": "/var/x",
}
_ANDROID, _IOS = {"platform": "android"}, {"platform": "ios"}

APP_CAPABILITIES = [
    *(
        Hostile({f"appium:{name}": value}, f"appium:{name}", others=others)
        for names, others in ((_PROGRAMS, _ANDROID), (_OF_IOS, _IOS))
        for name, value in names.items()
    ),
    Hostile({"appium:options": {"chromedriverExecutable": "/bin/sh"}}, "chromedriverExecutable", others=_ANDROID),
    Hostile({"appium:chromeOptions": {"binary": "/bin/sh"}}, "appium:chromeOptions.binary", others=_ANDROID),
    Hostile({"appium:chromeOptions": {"androidExecName": "x"}}, "androidExecName", others=_ANDROID),
    Hostile({"goog:chromeOptions": {"binary": "/bin/sh"}}, "goog:chromeOptions.binary", others=_ANDROID),
    Hostile({"goog:chromeOptions": {"args": ["--disable-web-security"]}}, "--disable-web-security", others=_ANDROID),
    Hostile(
        {"appium:processArguments": {"env": {"DYLD_INSERT_LIBRARIES": "/var/x"}}}, "DYLD_INSERT_LIBRARIES", others=_IOS
    ),
]
APP_OPTIONS = [
    Hostile({"chromedriverExecutable": "/bin/sh"}, "appium:chromedriverExecutable", others=_ANDROID),
    Hostile({"chromedriverExecutableDir": "/var/x"}, "appium:chromedriverExecutableDir", others=_ANDROID),
    Hostile({"derivedDataPath": "/var/x"}, "appium:derivedDataPath", others=_IOS),
    Hostile({"xcodeSigningId": "A\nCC = /var/x/x"}, "appium:xcodeSigningId", others=_IOS),
    Hostile({"processArguments": {"env": {"dyld_x": "y"}}}, "processArguments.env.dyld_x", others=_IOS),
]

_REMOTE = {"provider": "remote_url", "platform": "browser", "options": {"url": "http://127.1:1"}}
_GRID = {"provider": "selenium_grid", "platform": "browser", "options": {"url": "http://localhost:1"}}
_BINARY = {"goog:chromeOptions": {"binary": "/bin/sh"}}

ATTACH = {"remoteUrl": "http://127.0.0.1:1", "remoteSessionId": "a"}

HOSTILE: dict[str, list[Hostile]] = {
    "start_browser.args": [
        *_switches("chrome", *CHROMIUM_SWITCHES),
        *_switches("edge", "--utility-cmd-prefix=x", "--user-data-dir=/var/x"),
        *_switches("firefox", *FIREFOX_SWITCHES),
        *_switches("webkitgtk", "--cookies-file=/var/x/x", "--content-filter=/var/x/x", "file:///etc/passwd"),
    ],
    "start_browser.capabilities": BROWSER_CAPABILITIES,
    "start_session.capabilities": [
        Hostile(_BINARY, "goog:chromeOptions.binary", others={"provider": "local", "platform": "browser"}),
        # A remote end on this machine runs programs of this machine.
        Hostile(_BINARY, "goog:chromeOptions.binary", others=_REMOTE),
        Hostile(_BINARY, "goog:chromeOptions.binary", others=_GRID),
        *(Hostile(one.value, one.named, others={"provider": "appium", **one.others}) for one in APP_CAPABILITIES),
    ],
    "start_app_session.capabilities": APP_CAPABILITIES,
    "start_app_session.options": APP_OPTIONS,
    "start_session.options": [
        Hostile(one.value, one.named, others={"provider": "appium", **one.others}) for one in APP_OPTIONS
    ],
    "attach_session.capabilities": [
        Hostile({name: {"debuggerAddress": "169.254.169.254:80"}}, f"{name}.debuggerAddress", others=ATTACH)
        for name in ("goog:chromeOptions", "ms:edgeOptions")
    ]
    + [
        Hostile({name: "ws://169.254.169.254/x"}, name, others=ATTACH)
        for name in ("webSocketUrl", "se:cdp", "moz:debuggerAddress")
    ],
    "route.headers": [
        Hostile(
            {name: value}, "header names with one-line values", "invalid_argument", {"action": "fulfil", "url": "*"}
        )
        for name, value in (("A", "b\r\nSet-Cookie: c=d"), ("A\r\nB", "c"), ("A:B", "c"), ("", "c"), ("A", "b\0"))
    ],
}
"""Hostile values by tool and parameter."""
