"""Fields of pages and screens: setting them, and typing into the one in focus."""
