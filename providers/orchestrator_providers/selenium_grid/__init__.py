"""Browsers at a Selenium Grid."""
