"""Your own readers and architectures of networks: each is a module in the folder of its kind, found by its name."""
