# Functions that parses.smk is made with: from wildcards to files and settings.
import os

CORENLP_HOME = os.environ.get("CORENLP_HOME")


def parsers_of(kind):
    return any_of(name for name, parser in SETTINGS.parsers.items() if parser.kind == kind)


def parser_options(wildcards):
    """What decides how a sentence is parsed; the memory does not."""
    options = SETTINGS.parsers[wildcards.parser].options
    return {key: value for key, value in options.items() if key != "memory_mb"}


def parser_memory(wildcards):
    return SETTINGS.parsers[wildcards.parser].options.get("memory_mb", 4000)
