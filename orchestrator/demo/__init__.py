"""The demonstrations: small real applications of ours, and what drives them."""
