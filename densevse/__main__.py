"""Runs the command: `python -m densevse`."""

import sys

from densevse.command.main import main

sys.exit(main())
