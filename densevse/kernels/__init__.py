"""Fast implementations of the costly equations in `densevse/methods`; `definitions` gives slow, plain ones."""
