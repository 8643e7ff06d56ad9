"""This machine as its users share it: private files, sandboxes, other people."""
