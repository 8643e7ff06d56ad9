"""The doctor's self-test: twelve actions in a browser or on a phone."""
