"""The groups of entry points in which packages declare methods, readers, architectures and watchers of trainings."""

METHODS = "densevse.methods"
"""Types of the parameters of methods, as in densevse/methods/parameters, each with its `IMPLEMENTATION`."""
READERS = "densevse.readers"
"""Types of the options of readers."""
ARCHITECTURES = "densevse.architectures"
"""Values of `Architecture`."""
GROUPS = (METHODS, READERS, ARCHITECTURES)
"""The groups whose packages are part of the code of jobs."""
WATCHERS = "densevse.watchers"
"""Watchers of trainings, as densevse/training/watchers has them. No artifact depends on them."""
