"""Functions that rules are made with: from wildcards to files and settings, and digests of the code of jobs.

Each stage has one module with one class, whose methods the rules use: `filled(pattern, training.regions)`. Nothing here
reads an artifact or imports a heavy package, as all of it runs before a dry run can print its plan.
"""
