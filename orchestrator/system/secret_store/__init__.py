"""Secrets that operators keep: their entries, and one-time codes from their seeds."""
