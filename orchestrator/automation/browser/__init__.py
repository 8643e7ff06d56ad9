"""Automation of browsers: elements, frames, tabs, storage, emulation, settling."""
