"""The doctor: checks this machine for what sessions need, and names fixes."""
