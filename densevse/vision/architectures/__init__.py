"""Networks, one module for each architecture; densevse/config/declared/networks says how to add one."""
