from densevse.artifacts.files import write_text
from densevse.artifacts.schema import read
from densevse.artifacts.schemas.proposals import PROPOSAL_RECALL
from densevse.logs import job
from densevse.vision.proposal_recall import table


def main(title, proposers, recalls, path):
    found = {name: read(file, PROPOSAL_RECALL) for name, file in zip(proposers, recalls, strict=True)}
    write_text(table(title, found), path)


if __name__ == "__main__":
    with job(snakemake.log[0]):
        main(snakemake.params.title, snakemake.params.proposers, snakemake.input.recalls, snakemake.output[0])
