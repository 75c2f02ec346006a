import signal
import sys

from densevse.config.language import CoreNLP
from densevse.config.validation import validate
from densevse.language.corenlp import CoreNLPParser, heap_mb
from densevse.language.corenlp_jars import jars
from densevse.language.parses import write_parses
from densevse.runtime.logs import job


def main(options, home, memory_mb, threads, images, captions, shard, path):
    made_from = {"parser": "corenlp", "options": options, "jars": jars(home)}
    with CoreNLPParser(validate(CoreNLP, options, "parsers: options"), home, heap_mb(memory_mb), threads) as parser:
        write_parses(parser, images, captions, shard, path, made_from)


def end(*_):
    """Leave through every `with`, so that the server ends too."""
    sys.exit("ended by SIGTERM")


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, end)
    with job(snakemake.log[0]):
        main(
            snakemake.params.options,
            snakemake.input.home,
            snakemake.resources.mem_mb,
            snakemake.threads,
            snakemake.input.images or None,
            snakemake.input.captions,
            snakemake.wildcards.shard,
            snakemake.output[0],
        )
