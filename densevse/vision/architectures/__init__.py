"""Networks, one module for each architecture; densevse/extensions/architectures says how to add one."""
