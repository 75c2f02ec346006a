from densevse.artifacts.identity import Identity
from densevse.config.given import GivenLayout
from densevse.config.validation import validate
from densevse.evaluation.given.retrieval import GivenRow, write_given_retrieval
from densevse.runtime.logs import job
from densevse.runtime.numerics import set_up_processor

if __name__ == "__main__":
    with job(snakemake.log[0]):
        set_up_processor(snakemake.params.threads)
        layout = validate(GivenLayout, snakemake.params.layout, "the given row")
        write_given_retrieval(
            {key: path for key, path in snakemake.input.items() if path},
            GivenRow(layout, snakemake.params.sentences, snakemake.params.contents, snakemake.params.top),
            Identity.of(snakemake.wildcards, split="test"),
            snakemake.output[0],
        )
