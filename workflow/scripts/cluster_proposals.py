from densevse.artifacts.lineage import lineage
from densevse.artifacts.schema import read, write
from densevse.artifacts.schemas.proposals import PROPOSALS
from densevse.artifacts.shards import remove_superseded
from densevse.config.proposers import Clustered
from densevse.config.validation import validate
from densevse.runtime.logs import job
from densevse.vision.clusters import clustered


def main(proposals, name, options, path):
    chosen = clustered(read(proposals, PROPOSALS), validate(Clustered, options, f"proposers.{name}.options"))
    write(
        chosen, PROPOSALS, path, lineage({"proposer": name, "kind": "clustered", **options}, {"proposals": proposals})
    )
    remove_superseded(path)


if __name__ == "__main__":
    with job(snakemake.log[0]):
        main(
            snakemake.input.proposals,
            snakemake.wildcards.proposer,
            snakemake.params.options,
            snakemake.output[0],
        )
