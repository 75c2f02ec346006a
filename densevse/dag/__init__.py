"""Functions that rules are made with: from wildcards to files and settings, and digests of the code of jobs.

Each stage is a module, whose functions take the project first. Rules use them bound to the project, as `Stage` binds
them: `path(pattern, training.regions)`. Nothing here reads an artifact or imports a heavy package, as all of it runs
before a dry run can print its plan.
"""
