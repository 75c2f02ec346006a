from densevse.language.parses import write_parses
from densevse.runtime.logs import job
from densevse.scenes.grammar import GrammarParser

if __name__ == "__main__":
    with job(snakemake.log[0]):
        write_parses(
            GrammarParser(),
            snakemake.input.images or None,
            snakemake.input.captions,
            snakemake.wildcards.shard,
            snakemake.output[0],
            {"parser": "grammar"},
        )
