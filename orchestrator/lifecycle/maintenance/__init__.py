"""Maintenance of open sessions: limits, heartbeats, saved storage, cleanup, the keeper."""
