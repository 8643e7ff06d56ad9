"""The demonstrations: a chat, a shop with simulated phones, and the clients that drive them."""
