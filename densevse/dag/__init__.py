"""What rules are made with: from wildcards to files and settings, and digests of the code that jobs run.

One module for each stage, with one class whose methods the rules name: `filled(pattern, training.regions)`. Nothing
here opens a data file or imports anything heavy, as all of it runs before a dry run can print its plan.
"""
