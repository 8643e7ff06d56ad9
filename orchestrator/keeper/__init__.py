"""The one small process of a home that ends what has expired when nobody else is there.

It is started by file, imports the standard library and psutil alone, and holds no state of its own: what it does stands
in the records, so that it can be killed and started again at any time.
"""
