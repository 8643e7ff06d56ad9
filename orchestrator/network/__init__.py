"""What the requests of a session go through: rules, recordings that are played back, and the recorder."""
