"""The one path of a call: runner, connection, sequences, parallel runs, comparing."""
