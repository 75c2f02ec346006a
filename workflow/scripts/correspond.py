from densevse.artifacts.lineage import lineage
from densevse.batches.files import Files
from densevse.inference.assigning import write_correspondences
from densevse.inference.models import open_model
from densevse.logs import job
from densevse.numerics import set_up


def main(files, model, threads, output, number):
    inputs, method = open_model(files, model, set_up(threads), "embed_regions", "embed_phrases", "assign")
    write_correspondences(method, inputs, "train", output, lineage({"round": number}, {"start": model}))


if __name__ == "__main__":
    with job(snakemake.log[0]):
        main(
            Files.of(dict(snakemake.input.items())),
            snakemake.input.start,
            snakemake.params.threads,
            snakemake.output[0],
            snakemake.params.round,
        )
