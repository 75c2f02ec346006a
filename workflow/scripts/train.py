from densevse.logs import job
from densevse.training.data import Files
from densevse.training.run import train

if __name__ == "__main__":
    with job(snakemake.log[0]):
        train(
            files=Files.of(dict(snakemake.input.items())),
            previous=snakemake.input.get("previous"),
            code=snakemake.params.code,
            settings={**snakemake.params.method, "training": snakemake.params.training},
            seed=snakemake.params.seed,
            threads=snakemake.params.threads,
            model=snakemake.output.model,
            history=snakemake.output.history,
        )
