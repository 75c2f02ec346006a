from densevse.analyses.alignments.aligning import write_alignments
from densevse.artifacts.lineage import lineage
from densevse.data.files import Files
from densevse.inference.models import open_model
from densevse.runtime.logs import job
from densevse.runtime.numerics import set_up


def main(files, model, retrieval, triplets, threads, outputs):
    inputs, method = open_model(files, model, set_up(threads), "embed_regions", "embed_triplets", "assign")
    made_from = lineage({"triplets": triplets}, {"model": model, "retrieval": retrieval})
    write_alignments(method, inputs, retrieval, triplets, outputs, made_from)


if __name__ == "__main__":
    with job(snakemake.log[0]):
        main(
            Files.of(dict(snakemake.input.items())),
            snakemake.input.model,
            snakemake.input.retrieval,
            snakemake.params.triplets,
            snakemake.params.threads,
            (snakemake.output.alignments, snakemake.output.regions),
        )
