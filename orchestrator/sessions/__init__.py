"""Sessions: their records, the lanes that queue their calls, and the turns of the calls."""
