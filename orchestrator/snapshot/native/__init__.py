"""The native snapshot: reads an app's screen and answers as the page engine does for pages.

`Screen(remote, platform, refs)` is a `View` as `PageEngine` is, with the same answers, reasons and lines. Coordinates
are the driver's own (points on iOS, pixels on Android), `url` is '', `title` is that of the bar at the top, and there
are no `frames`. `Screen.element_locator()` is the locator of the element that `ready` found last, `Screen.handle()` the
remote end's reference to it.
"""
