"""The keeper: a small process per data folder that ends expired sessions without a server.

It is started by file, imports only the standard library and psutil, and has no state of its own: it works from the
records alone, so that it can be killed and started again at any time.
"""
