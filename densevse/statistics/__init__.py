"""Every bootstrap and every interval."""
