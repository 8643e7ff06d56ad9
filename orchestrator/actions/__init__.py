"""Everything that can be done in a session, each declared once."""
