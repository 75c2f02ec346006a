from densevse.artifacts.identity import Identity
from densevse.evaluation.correspondence_accuracy import write_accuracy
from densevse.runtime.logs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        write_accuracy(
            correspondences=snakemake.input.correspondences,
            boxes=snakemake.input.boxes,
            regions=snakemake.input.regions,
            candidates=snakemake.params.candidates,
            output=snakemake.output[0],
            made_from={"candidates": snakemake.params.candidates},
            of=Identity.of(snakemake.wildcards),
        )
