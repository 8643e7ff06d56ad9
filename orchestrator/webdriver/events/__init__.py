"""Events of a session: console messages, errors, requests, downloads and device logs."""
