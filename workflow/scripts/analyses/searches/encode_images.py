from densevse.artifacts.lineage import lineage
from densevse.data.files import Files
from densevse.inference.encodings import write_encodings
from densevse.inference.models import open_alone
from densevse.runtime.logs import job
from densevse.runtime.numerics import set_up


def main(files, model, split, threads, output):
    inputs, method = open_alone(files, model, set_up(threads))
    parents = {"model": model, "images": files.one("image_table")}
    write_encodings(method, inputs, split, output, lineage({"split": split}, parents))


if __name__ == "__main__":
    with job(snakemake.log[0]):
        main(
            Files.of(dict(snakemake.input.items())),
            snakemake.input.model,
            snakemake.wildcards.split,
            snakemake.params.threads,
            snakemake.output[0],
        )
