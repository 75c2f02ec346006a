"""densevse: five papers on matching images with sentences, on one set of cached, inspectable artifacts.

`docs/architecture.md` says which room holds what and which way imports run.
"""

import gc

# Importing torch makes hundreds of thousands of objects and hardly any garbage. To look for some as often as Python
# does takes a tenth of the start of each job.
gc.set_threshold(100_000, 50, 50)
