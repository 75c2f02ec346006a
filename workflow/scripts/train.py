from densevse.artifacts.identity import Identity
from densevse.config.training import TrainingJob
from densevse.config.validation import validate
from densevse.data.files import Files
from densevse.runtime.logs import job
from densevse.training.retrieval import train

if __name__ == "__main__":
    settings = {name: value for name, value in snakemake.params.items() if name != "contents"}
    with job(snakemake.log[0]):
        train(
            files=Files.of(dict(snakemake.input.items())),
            job=validate(TrainingJob, settings, "training"),
            model=snakemake.output.model,
            history=snakemake.output.history,
            of=Identity.of(snakemake.wildcards, round=snakemake.params.round),
        )
