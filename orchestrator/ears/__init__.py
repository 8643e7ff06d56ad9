"""What a session says while nobody asks: its console, its errors, its requests, its downloads."""
