"""Requests of a session: rules, replays and the HAR recorder."""
