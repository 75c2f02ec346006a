"""The subcommands of `densevse`, a module for each; `densevse <name>` runs the module `<name>`.

A module is found by its file's name, so that a new subcommand edits no other file. An underscore at the end is no part
of the name: `import_.py` is `densevse import`. It defines:

    HELP: str                                                   # one line of `densevse --help`
    def add_arguments(parser: argparse.ArgumentParser) -> None  # its own arguments
    def run(arguments: argparse.Namespace) -> int               # does it, and returns the exit status

`run` prints what was asked for to standard output, and raises `InputError` for what the user can correct: the command
prints that without a traceback. The exit status is 0 where all went well, 1 where something could not be done, and 2
for a command line that cannot be read (`parser.error`). `densevse --help` imports every module here, so that what is
heavy, the configuration too, is imported inside the functions that use it.

What a user writes after a lone `--` is in `arguments.passed_on`, a list; a module that has a use for it says
`PASSES_ON = True`, and for others it is an error.
"""
