"""What a session shows: its elements and their refs, what changed, when it settles."""
