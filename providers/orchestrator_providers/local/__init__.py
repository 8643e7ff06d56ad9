"""Browsers on this machine: their drivers, flags, profiles and screens."""
