"""Looks at this machine: what there is to drive, what is missing or wrong, and what mends it."""
