"""Prints each planned job as a line of JSON: `snakemake --dry-run --logger densevse`, with this folder on PYTHONPATH.

`densevse plan` reads these lines. Errors go to standard error, and nothing else is printed.
"""

import json
import logging
import sys

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent


class LogHandler(LogHandlerBase):
    """Handles Snakemake's log records."""

    writes_to_stream = True
    writes_to_file = False
    has_filter = False
    has_formatter = False
    needs_rulegraph = False

    def emit(self, record: logging.LogRecord) -> None:
        """Prints a job's rule, wildcards, outputs and log."""
        if getattr(record, "event", None) == LogEvent.JOB_INFO:
            shown = ("rule_name", "wildcards", "output", "log")
            print(json.dumps({name: getattr(record, name) for name in shown}))
        elif record.levelno >= logging.ERROR:
            print(record.getMessage(), file=sys.stderr)
