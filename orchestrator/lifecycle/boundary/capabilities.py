"""Tables of the capabilities that a start over MCP may ask for on this machine.

Sources: https://www.w3.org/TR/webdriver2/#capabilities, https://developer.chrome.com/docs/chromedriver/capabilities,
https://learn.microsoft.com/microsoft-edge/webdriver-chromium/capabilities-edge-options,
https://developer.mozilla.org/docs/Web/WebDriver/Capabilities/firefoxOptions, and Appium's drivers:
https://github.com/appium/appium-uiautomator2-driver#capabilities, https://github.com/appium/appium-espresso-driver,
https://appium.github.io/appium-xcuitest-driver/latest/reference/capabilities/.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from orchestrator.lifecycle.boundary.rules import ANYTHING, Keys, Names, Preferences, Request, StartRule, Text, deny
from orchestrator.lifecycle.boundary.switches import CHROMIUM, FIREFOX, WEBKITGTK
from orchestrator.webdriver.capabilities import STANDARD

_DOWNLOADS = "Downloads go to a folder of the session, and results name the file."
_PROGRAM = "The setting {} names the program."
_ATTACHED = "mode: attached drives a browser that runs."
_EXTENSIONS = "The switch --load-extension takes folders that the setting extensions allows."
_PROFILE = "A profile is chosen by mode: persistent and its name in profile."


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_DEFAULTS = (
    "profile.default_content_setting_values.",
    "profile.default_content_settings.",
    "profile.managed_default_content_settings.",
)
_KINDS = _names(
    """
    automatic_downloads clipboard cookies geolocation idle_detection images javascript media_stream
    media_stream_camera media_stream_mic midi_sysex notifications plugins popups sensors sound stylesheets
    """
)
"""Permissions of pages, as Chromium's content settings name it."""

_CHROMIUM_PREFERENCES = Preferences(
    _names(
        """
        autofill. browser.enable_spellchecking browser.show_home_button browser.theme.color_scheme browser.themes.
        credentials_enable_autosignin credentials_enable_service default_zoom_level download.directory_upgrade
        download.prompt_for_download enable_do_not_track https_only_mode_enabled in_app_payments_enabled
        intl.accept_languages intl.selected_languages media.autoplay_whitelist net.network_prediction_options
        partition.default_zoom_level payments. plugins.always_open_pdf_externally plugins.plugins_disabled
        privacy_sandbox. profile.block_third_party_cookies profile.cookie_controls_mode
        profile.content_settings.exceptions.clipboard. profile.content_settings.exceptions.notifications.
        profile.password_manager_enabled profile.password_manager_leak_detection profile.exit_type
        safebrowsing.disable_download_protection safebrowsing.enabled safebrowsing.enhanced search.suggest_enabled
        session.restore_on_startup signin.allowed spellcheck. tracking_protection. translate.
        translate_blocked_languages translate_whitelists. webkit.webprefs.default_font_size webkit.webprefs.fonts.
        webkit.webprefs.javascript_enabled
        webkit.webprefs.loads_images_automatically webkit.webprefs.minimum_font_size webrtc.
        """
    )
    | {f"{place}{kind}" for place in _DEFAULTS for kind in _KINDS},
    {"download.default_directory": _DOWNLOADS, "savefile.default_directory": _DOWNLOADS},
)
_FIREFOX_PREFERENCES = Preferences(
    _names(
        """
        accessibility.force_disabled browser.cache.disk.enable browser.cache.memory.enable
        browser.contentblocking.category browser.display. browser.download.manager.showWhenStarting
        browser.download.alwaysOpenPanel browser.download.useDownloadDir browser.helperApps.alwaysAsk.force
        browser.helperApps.neverAsk.saveToDisk browser.link.open_newwindow browser.sessionstore.resume_from_crash
        browser.shell.checkDefaultBrowser browser.tabs.warnOnClose browser.translations. browser.zoom. datareporting.
        dom.disable_beforeunload dom.disable_open_during_load dom.max_script_run_time dom.min_background_timeout_value
        dom.popup_maximum dom.push.enabled dom.serviceWorkers.enabled dom.webnotifications.enabled font.
        general.smoothScroll general.useragent.override geo.enabled geo.prompt.testing geo.prompt.testing.allow
        gfx.font_rendering.
        intl. javascript.enabled layout.css. layout.spellcheckDefault media.autoplay.
        media.gmp-manager.updateEnabled media.navigator. media.peerconnection. media.volume_scale
        network.captive-portal-service.enabled network.cookie.cookieBehavior network.dns.disablePrefetch
        network.http.http2.enabled network.http.http3.enable network.prefetch-next network.proxy. pdfjs.disabled
        permissions.default. privacy.clearOnShutdown. privacy.resistFingerprinting
        privacy.trackingprotection. reader. signon. toolkit.cosmeticAnimations.enabled
        toolkit.telemetry.enabled ui. webgl.disabled webgl.force-enabled
        """
    ),
    {"browser.download.dir": _DOWNLOADS, "browser.download.folderList": _DOWNLOADS},
)
_EXCLUDED = Names(
    _names(
        """
        disable-background-networking disable-client-side-phishing-detection disable-component-update
        disable-default-apps disable-extensions disable-hang-monitor disable-infobars disable-notifications
        disable-popup-blocking disable-prompt-on-repost disable-sync enable-automation enable-blink-features
        enable-logging ignore-certificate-errors ignore-certificate-errors-spki-list metrics-recording-only
        safebrowsing-disable-auto-update safebrowsing-disable-download-protection test-type allow-pre-commit-input
        """
    )
)
"""Switches of the driver's own that it may be told to omit."""

_CHROMIUM_OPTIONS: Mapping[str, StartRule] = {
    "args": CHROMIUM,
    "prefs": _CHROMIUM_PREFERENCES,
    "excludeSwitches": _EXCLUDED,
    **dict.fromkeys(
        _names(
            "mobileEmulation perfLoggingPrefs windowTypes detach w3c useAutomationExtension browserStartupTimeout "
            "extensionLoadTimeout"
        ),
        ANYTHING,
    ),
}
_OTHERWISE = {"extensions": _EXTENSIONS, "debuggerAddress": _ATTACHED}
_CHROME = Keys(_CHROMIUM_OPTIONS, {**_OTHERWISE, "binary": _PROGRAM.format("chrome_binary")})
_EDGE = Keys(_CHROMIUM_OPTIONS, {**_OTHERWISE, "binary": _PROGRAM.format("edge_binary")})
_ON_DEVICE = Keys(
    {
        **_CHROMIUM_OPTIONS,
        **dict.fromkeys(
            _names(
                "androidPackage androidActivity androidProcess androidDeviceSerial androidUseRunningApp "
                "androidKeepAppDataDir"
            ),
            ANYTHING,
        ),
    },
    _OTHERWISE,
)
"""Chrome on a device, where the package is chosen too."""
_FIREFOX = Keys(
    {
        "args": FIREFOX,
        "prefs": _FIREFOX_PREFERENCES,
        "log": Keys({"level": ANYTHING}),
        "env": Keys(
            dict.fromkeys(
                _names("LANG LANGUAGE LC_ALL MOZ_HEADLESS MOZ_HEADLESS_WIDTH MOZ_HEADLESS_HEIGHT TZ"), ANYTHING
            )
        ),
    },
    {"binary": _PROGRAM.format("firefox_binary"), "profile": _PROFILE},
)
_WEBKITGTK = Keys(
    {"args": WEBKITGTK, "useOverlayScrollbars": ANYTHING}, {"binary": _PROGRAM.format("webkitgtk_binary")}
)

_LOADER = re.compile(r"(?!(DYLD_|LD_|__XPC_|XPC_|SIMCTL_|OBJC_))\w+", re.IGNORECASE)


class _AppEnvironment(StartRule):
    """The environment of an app: any but what makes a simulator, which is this machine, load libraries."""

    def apply(self, place: str, value: Any, request: Request) -> Any:  # noqa: ARG002 (the base's)
        """Return it unchanged."""
        if not isinstance(value, Mapping):
            deny(place)
        for name in value:
            if not _LOADER.fullmatch(str(name)):
                deny(f"{place}.{name}")
        return value


APPIUM_NAMES = _names(
    """
    absoluteWebLocations activityOptions adbExecTimeout additionalWebviewBundleIds allowDelayAdb
    allowProvisioningDeviceRegistration allowTestPackages androidInstallTimeout app appActivity appInstallStrategy
    appLocale appName appPackage appPushTimeout appTimeZone appWaitActivity appWaitDuration appWaitForLaunch
    appWaitPackage autoAcceptAlerts autoDismissAlerts autoFillPasswords autoGrantPermissions autoLaunch autoWebView
    autoWebview autoWebviewName autoWebviewTimeout automationName avdLaunchTimeout avdReadyTimeout bundleId
    calendarAccessAuthorized calendarFormat chromeLoggingPrefs chromedriverDisableBuildCheck chromedriverPort
    chromedriverPorts chromedriverUseSystemExecutable clearDeviceLogsOnStart clearSystemFiles commandTimeouts
    connectHardwareKeyboard deviceName disableAutomaticScreenshots disableSuppressAccessibilityService
    disableWindowAnimation dontStopAppOnReset enableAsyncExecuteFromHttps enablePerformanceLogging
    enableWebviewDetailsCollection enforceAppInstall enforceFreshSimulatorCreation enforceXPath1
    ensureWebviewsHavePages eventTimings extractChromeAndroidPackageFromContextName flutterElementWaitTimeout
    flutterEnableMockCamera flutterServerLaunchTimeout flutterSystemPort forceAppLaunch forceEspressoRebuild
    forceSimulatorSoftwareKeyboardPresence fullContextList fullReset gpsEnabled hideKeyboard
    ignoreHiddenApiPolicyError includeDeviceCapsToSessionInfo includeSafariInWebviews injectedImageProperties
    intentAction intentCategory intentFlags intentOptions interKeyDelay isHeadless isMockLocation keepKeyChains
    language launchTimeout launchWithIDB locale localeScript logcatFilterSpecs logcatFormat maxTypingFrequency
    mjpegServerPort mockLocationApp nativeWebScreenshot nativeWebTap nativeWebTapStrict networkSpeed
    newCommandTimeout noReset noSign optionalIntentArguments orientation otherApps permissions platformName
    platformVersion printPageSourceOnFindFailure recreateChromeDriverSessions reduceMotion reduceTransparency
    remoteAppsCacheLimit resetLocationService resetOnSessionStartOnly respectSystemAlerts safariAllowPopups
    safariGarbageCollect safariIgnoreFraudWarning safariIgnoreWebHostnames safariLogAllCommunication
    safariLogAllCommunicationHexDump safariOpenLinksInBackground safariSocketChunkSize
    safariWebInspectorMaxFrameLength scaleFactor screenshotQuality settings shouldTerminateApp
    shouldUseSingletonTestManager showChromedriverLog showGradleLog showIOSLog showXcodeLog shutdownOtherSimulators
    simpleIsVisibleCheck simulatorPasteboardAutomaticSync simulatorStartupTimeout simulatorTracePointer
    simulatorWindowCenter skipDeviceInitialization skipLogCapture skipLogcatCapture skipServerInstallation
    skipUnlock suppressKillServer systemPort timeZone udid uiautomator2ServerInstallTimeout
    uiautomator2ServerLaunchTimeout uiautomator2ServerReadTimeout uninstallOtherPackages unicodeKeyboard resetKeyboard
    unlockKey unlockStrategy unlockSuccessTimeout unlockType
    useJSONSource useKeystore keyAlias keyPassword keystorePassword useNativeCachingStrategy useNewWDA
    usePrebuiltWDA usePreinstalledWDA useSimpleBuildTest userProfile waitForIdleTimeout waitForQuiescence
    waitForSelectorTimeout wdaConnectionTimeout wdaEventloopIdleDelay wdaLaunchTimeout wdaLocalPort
    wdaStartupRetries wdaStartupRetryInterval webDriverAgentUrl webkitResponseTimeout webviewAtomWaitTimeout
    webviewConnectRetries webviewConnectTimeout webviewDevtoolsPort espressoServerLaunchTimeout
    """
)
"""Capabilities of Appium's drivers that any call may give.

Not among them are programs (`chromedriverExecutable`, `agentPath`, `buildToolsVersion`, `prebuiltWDAPath`, `prerun`),
what is handed to programs (`avdArgs`, `avdEnv`, `chromedriverArgs`, `espressoBuildConfig`, `xcodeConfigFile`), folders
and key files (`derivedDataPath`, `keychainPath`, `keystorePath`, `resultBundlePath`), and what opens this machine or
a device to others (`adbListenAllNetwork`, `customSSLCert`, `remoteAdbHost`).
"""
_APPIUM: Mapping[str, StartRule] = {
    **dict.fromkeys(APPIUM_NAMES, ANYTHING),
    "browserName": ANYTHING,
    "avd": Text(re.compile(r"@?\w[\w.() -]*")),
    **dict.fromkeys(("updatedWDABundleId", "updatedWDABundleIdSuffix"), Text(re.compile(r"[\w.-]+"))),
    # They are written into a file of build settings, one a line.
    **dict.fromkeys(("xcodeOrgId", "xcodeSigningId"), Text(re.compile(r"[\w .:@()-]+"))),
    "chromeOptions": _ON_DEVICE,
    "processArguments": Keys({"args": ANYTHING, "env": _AppEnvironment()}),
}

_VENDORS: Mapping[str, Mapping[str, StartRule]] = {
    "goog": {"chromeOptions": _CHROME, "loggingPrefs": ANYTHING, "perfLoggingPrefs": ANYTHING},
    "ms": {"edgeOptions": _EDGE, "loggingPrefs": ANYTHING, "edgeChromium": ANYTHING},
    "moz": {"firefoxOptions": _FIREFOX},
    "webkitgtk": {"browserOptions": _WEBKITGTK},
    "safari": dict.fromkeys(("automaticInspection", "automaticProfiling"), ANYTHING),
    "appium": {**_APPIUM, "options": Keys(_APPIUM)},
}
_ELSEWHERE = _names("se sauce bstack browserstack LT lt tb testingbot digitalai selenoid moon wdio perfecto headspin")
"""Vendors whose capabilities nothing on this machine reads."""


class _Capabilities(StartRule):
    """Capabilities by their full names: those of the standard, those in the tables, and those of other vendors."""

    def __init__(self, vendors: Mapping[str, Mapping[str, StartRule]]) -> None:
        known = {f"{vendor}:{name}": rule for vendor, rules in vendors.items() for name, rule in rules.items()}
        self._keys = Keys({**dict.fromkeys(STANDARD, ANYTHING), **known})

    def apply(self, place: str, value: Any, request: Request) -> Any:
        """Return them as their rules pass them on."""
        passed = {}
        for name, given in value.items():
            foreign = name.partition(":")[0] in _ELSEWHERE and ":" in name
            passed[name] = given if foreign else self._keys.apply_to_key(f"{place}{name}", name, given, request)
        return passed


OF_BROWSERS: StartRule = _Capabilities(_VENDORS)
"""The capabilities of a browser on this machine."""
OF_DEVICES: StartRule = _Capabilities(
    MappingProxyType({**_VENDORS, "goog": {**_VENDORS["goog"], "chromeOptions": _ON_DEVICE}})
)
"""The capabilities of an app or browser on a device."""
