"""Providers that ship with webdriver-orchestrator; each is found by its entry point."""
