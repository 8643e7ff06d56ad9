"""The store: session records that outlive the processes that use them."""
