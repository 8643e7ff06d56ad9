"""Scenarios of pytest-bdd: a world for each, and ready-made steps that name the user.

Registered where pytest-bdd is installed; nothing of the orchestrator is imported before a step needs it.
"""
