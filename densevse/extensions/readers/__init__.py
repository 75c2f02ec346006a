"""Your own readers of layouts of data sets; those of the project are in densevse/config/readers.py.

To add a reader, write a module here whose `DECLARED` is the type of its options, and the implementation that the type
names: densevse/datasets/readers.py describes its functions. The module's name is the reader's. The plan imports it, so
it imports no large library such as pandas; only jobs import the implementation.

    from densevse.config.readers import ReaderOptions

    class Lines(ReaderOptions):
        IMPLEMENTATION = "densevse.datasets.lines"
        SOURCES = frozenset({"images", "text"})
        SENTENCES = "text"

        separator: str = "|"

    DECLARED = Lines
"""
