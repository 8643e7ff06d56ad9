"""Snapshots of pages and apps: elements and their refs, changes, and stability."""
