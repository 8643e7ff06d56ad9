"""Runs the command line as `python -m orchestrator`."""

from orchestrator.cli import main

main()
