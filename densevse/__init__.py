"""densevse: five papers on matching images with sentences, on one set of cached, inspectable artifacts.

`docs/architecture.md` says which room holds what and which way imports run.
"""
