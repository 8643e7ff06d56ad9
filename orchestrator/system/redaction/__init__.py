"""Redaction of what was typed into the password fields of a session."""
