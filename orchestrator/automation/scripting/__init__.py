"""Script worlds: JavaScript engines of sessions, whose globals persist between calls."""
