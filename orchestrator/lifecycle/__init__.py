"""The life of sessions: starting, attaching, restarting, closing, maintenance, the keeper."""
