"""The subcommands of `densevse`, one module each; `densevse <name>` runs the module `<name>`.

A module is found by its file's name, so a new subcommand edits no other file. An underscore at the end is not part of
the name: `import_.py` is `densevse import`. An analysis may have one too: densevse/analyses/<analysis>/subcommand.py,
with the name that it defines as `NAME`. A module defines:

    HELP: str                                                   # one line of `densevse --help`
    def add_arguments(parser: argparse.ArgumentParser) -> None  # its own arguments
    def run(arguments: argparse.Namespace) -> int               # does it, and returns the exit status

`run` prints its result to standard output, and raises `InputError` for mistakes that the user can correct, which the
command prints without a traceback. The exit status is 0 on success, 1 on failure, and 2 for an invalid command line
(`parser.error`). `densevse --help` imports every module here, so functions import heavy modules, the configuration
among them, where they use them.

Arguments after a lone `--` are in the list `arguments.passed_on`. A module that uses them sets `PASSES_ON = True`; for
others they are an error.
"""
