"""Resources of the server: what a session shows and has, to list, read and follow."""
