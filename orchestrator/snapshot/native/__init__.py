"""The native snapshot: what a screen of an app shows, answered as the page engine answers for web pages.

`Screen(remote, platform, refs)` has the door of `Page`: `call(method, **params) -> dict`, with the same keys, reasons
and lines; `Screen.call` lists the methods. Coordinates are the driver's own (points on iOS, pixels on Android),
`url` is '', `title` that of the bar at the top, and there are no `frames`. `Screen.element()` is the locator of the
element that `ready` found last, `Screen.handle()` the remote end's reference to it.
"""
