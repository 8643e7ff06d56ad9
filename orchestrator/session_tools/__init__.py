"""The tools for sessions as a whole: start, list, close, run sequences, compare."""
