"""Storage of any origin, read and written beside the driver."""
