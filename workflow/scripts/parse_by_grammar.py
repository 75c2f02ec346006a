from densevse.language.grammar import GrammarParser
from densevse.language.parses import write_parses
from densevse.logs import job

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
