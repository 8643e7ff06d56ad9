"""The remote end: its commands, its capabilities and its errors in our words."""
