"""Tables of the command-line switches that a start over MCP may give to a browser.

Each switch here runs no program, reads and writes no file, opens no port, and keeps the browser's protections as they
are. Sources: Chromium's `*_switches.cc`, https://peter.sh/experiments/chromium-command-line-switches/; Firefox's
https://firefox-source-docs.mozilla.org/browser/CommandLineParameters.html; `MiniBrowser --help`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from orchestrator.lifecycle.boundary.rules import ANYTHING, ExtensionFolders, Names, StartRule, Switches, Text

_WINDOW = """
start-maximized start-fullscreen kiosk window-size window-position window-name class hide-scrollbars headless
force-device-scale-factor device-scale-factor high-dpi-support ozone-platform ozone-platform-hint
ozone-override-screen-size screen-info content-shell-host-window-size force-color-profile force-dark-mode
force-high-contrast force-prefers-reduced-motion force-prefers-no-reduced-motion force-prefers-reduced-transparency
force-renderer-accessibility force-raster-color-profile font-render-hinting touch-events top-controls-hide-threshold
incognito auto-open-devtools-for-tabs enable-viewport enable-use-zoom-for-dsf
"""
_LANGUAGE = "lang accept-lang user-agent force-ui-direction force-text-direction"
_PROXY = "proxy-server proxy-bypass-list proxy-pac-url proxy-auto-detect no-proxy-server winhttp-proxy-resolver"
_MEDIA = """
autoplay-policy mute-audio disable-audio-output disable-audio-input auto-select-tab-capture-source-by-title
force-webrtc-ip-handling-policy webrtc-ip-handling-policy webrtc-max-cpu-consumption-percentage
"""
_DRAWING = """
disable-gpu disable-gpu-compositing disable-gpu-rasterization disable-gpu-vsync disable-gpu-memory-buffer-video-frames
disable-gpu-shader-disk-cache disable-gpu-program-cache disable-gpu-early-init disable-software-rasterizer
disable-accelerated-2d-canvas disable-accelerated-video-decode disable-accelerated-video-encode
disable-accelerated-mjpeg-decode disable-accelerated-layers disable-accelerated-compositing disable-3d-apis
disable-webgl disable-webgl2 disable-canvas-aa disable-2d-canvas-clip-aa disable-composited-antialiasing
disable-gl-drawing-for-tests disable-partial-raster disable-skia-runtime-opts disable-low-res-tiling
disable-lcd-text disable-font-subpixel-positioning disable-smooth-scrolling disable-threaded-animation
disable-threaded-scrolling disable-checker-imaging disable-image-animation-resync disable-new-content-rendering-timeout
disable-frame-rate-limit deterministic-mode enable-begin-frame-control run-all-compositor-stages-before-draw
enable-gpu enable-gpu-rasterization enable-webgl enable-accelerated-2d-canvas enable-zero-copy
enable-surface-synchronization enable-smooth-scrolling enable-unsafe-swiftshader ignore-gpu-blocklist
ignore-gpu-blacklist use-gl use-angle use-vulkan enable-features-vulkan num-raster-threads
"""
_QUIET = """
no-first-run no-default-browser-check no-service-autorun no-pings no-crash-upload no-experiments no-startup-window
noerrdialogs bwsi disable-background-networking disable-background-timer-throttling
disable-backgrounding-occluded-windows disable-renderer-backgrounding disable-background-mode disable-breakpad
disable-crash-reporter disable-client-side-phishing-detection disable-component-extensions-with-background-pages
disable-component-update disable-component-cloud-policy disable-cloud-import disable-cloud-policy-on-signin
disable-default-apps disable-desktop-notifications disable-dev-shm-usage disable-dinosaur-easter-egg
disable-domain-reliability disable-extensions
disable-external-intent-requests disable-field-trial-config disable-focus-on-load disable-geolocation
disable-hang-monitor disable-histogram-customizer disable-infobars disable-in-process-stack-traces
disable-ipc-flooding-protection disable-logging disable-login-animations disable-login-screen-apps
disable-modal-animations disable-notifications disable-offer-store-unmasked-wallet-cards
disable-offer-upload-credit-cards
disable-password-generation disable-pepper-3d disable-permissions-api disable-plugins disable-plugins-discovery
disable-popup-blocking disable-print-preview disable-profile-shortcut-manager disable-prompt-on-repost
disable-reading-from-canvas disable-remote-fonts disable-save-password-bubble disable-search-engine-choice-screen
disable-search-geolocation-disclosure disable-session-crashed-bubble disable-signin-promo disable-sync
disable-sync-preferences disable-sync-types disable-single-click-autofill disable-speech-api disable-spell-checking
disable-stack-profiler disable-suggestions-ui disable-tab-for-desktop-share disable-translate
disable-usb-keyboard-detect
disable-voice-input disable-wake-on-wifi disable-xss-auditor hide-crash-restore-bubble homepage-is-about-blank
metrics-recording-only propagate-iph-for-testing safebrowsing-disable-auto-update
safebrowsing-disable-download-protection silent-launch simulate-outdated-no-au suppress-message-center-popups
use-mock-keychain webview-disable-safebrowsing-support ash-no-nudges
"""
_NETWORK = """
disable-http2 disable-quic enable-quic dns-prefetch-disable disable-http-cache disk-cache-size media-cache-size
aggressive-cache-discard disable-application-cache disable-offline-load-stale-cache site-per-process isolate-origins
force-effective-connection-type ignore-ssl-errors
"""
_ENGINE = """
enable-automation test-type allow-pre-commit-input enable-experimental-web-platform-features
enable-precise-memory-info enable-javascript-harmony export-tagged-pdf
generate-pdf-document-outline log-level memory-pressure-off renderer-process-limit process-per-site process-per-tab
max-active-webgl-contexts enable-low-end-device-mode animation-duration-scale
"""
_FEATURES_OFF = """
AcceptCHFrame AutofillServerCommunication AutoplayIgnoreWebAudio AutomationControlled
AvoidUnnecessaryBeforeUnloadCheckSync BackForwardCache BlinkGenPropertyTrees BlockThirdPartyCookies
CalculateNativeWinOcclusion CertificateTransparencyComponentUpdater ChromeWhatsNewUI CookiesWithoutSameSiteMustBeSecure
DestroyProfileOnBrowserClose DialMediaRouteProvider DisableLoadExtensionCommandLineSwitch
ExtensionManifestV2Unsupported ExtensionManifestV2Disabled FedCm FlashDeprecationWarning GlobalMediaControls
HttpsFirstBalancedModeAutoEnable HttpsUpgrades ImprovedCookieControls InfiniteSessionRestore
InterestFeedContentSuggestions LazyFrameLoading LazyImageLoading LensOverlay MediaEngagementBypassAutoplayPolicies
MediaRouter NotificationTriggers OmniboxUIExperimentMaxAutocompleteMatches OptimizationGuideModelDownloading
OptimizationHints OptimizationHintsFetching OptimizationTargetPrediction OverlayScrollbar PaintHolding PasswordImport
PasswordLeakDetection PdfOopif PreloadMediaEngagementData Prerender2 PrivacySandboxSettings4 ReadLater
SameSiteByDefaultCookies SearchEngineChoice SearchEngineChoiceTrigger SidePanelPinning TabGroups TabHoverCards
ThirdPartyCookieDeprecation ThirdPartyStoragePartitioning TrackingProtection3pcd Translate TranslateUI
UseEcoQoSForBackgroundProcess UserAgentClientHint VizDisplayCompositor WebRtcHideLocalIpsWithMdns
WebUIOmniboxAimPopup WebUIOmniboxPopup msEdgeTranslate msEnhancedTrackingPreventionEnabled
"""
_FEATURES_ON = """
FedCm NetworkService OverlayScrollbar PdfOopif ReduceUserAgentMinorVersion UseOzonePlatform VaapiVideoDecoder
VaapiVideoEncoder WebContentsForceDark
"""
_BLINK_OFF = "AutomationControlled WebShare WebUSB WebBluetooth IdleDetection Notifications"
_BLINK_ON = "IdleDetection MockIdleDetection ComputedAccessibilityInfo ShadowDOMV0"
_BLINK_SETTINGS = re.compile(
    r"(imagesEnabled|loadsImagesAutomatically|preferredColorScheme|forceDarkModeEnabled|primaryHoverType|"
    r"availableHoverTypes|primaryPointerType|availablePointerTypes|preferredContrast|hideScrollbars)=\w+"
)
_ENGINE_FLAG = r"--(max[-_]old[-_]space[-_]size=\d+|expose[-_]gc|stack[-_]trace[-_]limit=\d+)"

_SANDBOX = "this server decides whether the browser can have its sandbox."
_PROFILE = "A profile is chosen by mode: persistent and its name in profile."
_CERTIFICATES = "options.acceptInsecureCerts loads pages with untrusted certificates."
_RESOLVER = "options.hostRules resolves hosts."
_DEBUGGER = "The session has all that a debugger port would be for; mode: attached drives a browser that runs."
_PAGE = "navigationUrl opens the first page."
_LOG = "get_console reads what pages write."


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _pattern(text: str) -> Text:
    return Text(re.compile(text))


_BY_VALUE: Mapping[str, StartRule] = {
    "disable-features": Names(_names(_FEATURES_OFF)),
    "enable-features": Names(_names(_FEATURES_ON)),
    "disable-blink-features": Names(_names(_BLINK_OFF)),
    "enable-blink-features": Names(_names(_BLINK_ON)),
    "blink-settings": _pattern(rf"{_BLINK_SETTINGS.pattern}(,{_BLINK_SETTINGS.pattern})*"),
    "js-flags": _pattern(rf"{_ENGINE_FLAG}([ ,]{_ENGINE_FLAG})*"),
    "password-store": _pattern("basic"),
    "load-extension": ExtensionFolders(),
    "disable-extensions-except": ExtensionFolders(),
}

CHROMIUM = Switches(
    known=MappingProxyType(
        {
            **dict.fromkeys(
                _names(f"{_WINDOW} {_LANGUAGE} {_PROXY} {_MEDIA} {_DRAWING} {_QUIET} {_NETWORK} {_ENGINE}"), ANYTHING
            ),
            **_BY_VALUE,
        }
    ),
    stems=("use-fake-",),
    left_out={
        "no-sandbox": _SANDBOX,
        "disable-setuid-sandbox": _SANDBOX,
        "no-zygote": _SANDBOX,
        "remote-allow-origins": "the driver needs no permission of the browser.",
    },
    instead={
        **dict.fromkeys(("user-data-dir", "profile-directory"), _PROFILE),
        **dict.fromkeys(("ignore-certificate-errors", "allow-insecure-localhost"), _CERTIFICATES),
        **dict.fromkeys(("host-resolver-rules", "host-rules"), _RESOLVER),
        **dict.fromkeys(("remote-debugging-port", "remote-debugging-pipe", "remote-debugging-address"), _DEBUGGER),
        **dict.fromkeys(("app", "new-window"), _PAGE),
        **dict.fromkeys(("enable-logging", "log-file", "v", "vmodule", "log-net-log"), _LOG),
    },
)
"""Switches of Chrome, Chromium and Edge."""

_SIZE = _pattern(r"\d{1,5}")

FIREFOX = Switches(
    known={
        **dict.fromkeys(_names("headless private private-window kiosk purgecaches"), ANYTHING),
        **dict.fromkeys(("width", "height"), _SIZE),
        "window-size": _pattern(r"\d{1,5}(,\d{1,5})?"),
    },
    instead={
        **dict.fromkeys(("profile", "P", "ProfileManager", "CreateProfile"), _PROFILE),
        **dict.fromkeys(("remote-debugging-port", "start-debugger-server"), _DEBUGGER),
        **dict.fromkeys(("url", "new-tab", "new-window", "chrome"), _PAGE),
        "screenshot": "take_screenshot takes pictures.",
    },
    spaced=frozenset({"width", "height"}),
)
"""Switches of Firefox."""

WEBKITGTK = Switches(
    known=dict.fromkeys(
        _names(
            "automation private dark-mode full-screen geometry bg-color enable-page-cache user-agent proxy ignore-host"
        ),
        ANYTHING,
    ),
    instead={"ignore-tls-errors": _CERTIFICATES},
)
"""Switches of WebKitGTK's MiniBrowser."""

BY_BROWSER: Mapping[str, StartRule] = MappingProxyType(
    {"chrome": CHROMIUM, "chromium": CHROMIUM, "edge": CHROMIUM, "firefox": FIREFOX, "webkitgtk": WEBKITGTK}
)
"""The switches of each browser that takes any."""
