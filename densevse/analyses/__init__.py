"""Analyses: side capabilities, one deletable folder each, with computation, settings, tables and pictures."""
