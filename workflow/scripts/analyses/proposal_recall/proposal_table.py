from densevse.analyses.proposal_recall.table import read_published, table
from densevse.artifacts.schema import read
from densevse.artifacts.schemas.proposals import PROPOSAL_RECALL, PROPOSAL_TIMES
from densevse.runtime.logs import job


def main(title, proposers, recalls, timed, times, published, outputs):
    found = {name: read(file, PROPOSAL_RECALL) for name, file in zip(proposers, recalls, strict=True)}
    seconds = {name: read(file, PROPOSAL_TIMES) for name, file in zip(timed, times, strict=True)}
    table(title, found, seconds, read_published(*published) if published else None).write(*outputs)


if __name__ == "__main__":
    with job(snakemake.log[0]):
        main(
            snakemake.params.title,
            snakemake.params.proposers,
            snakemake.input.recalls,
            snakemake.params.timed,
            snakemake.input.times,
            snakemake.input.published,
            (snakemake.output.markdown, snakemake.output.html),
        )
