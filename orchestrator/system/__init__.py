"""Services of this machine: processes, folders, programs, secrets, logs and event loops."""
