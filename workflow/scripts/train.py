from densevse.batches.files import Files
from densevse.logs import job
from densevse.settings.training import TrainingJob
from densevse.settings.validation import validate
from densevse.training.retrieval import train

if __name__ == "__main__":
    with job(snakemake.log[0]):
        train(
            files=Files.of(dict(snakemake.input.items())),
            start=snakemake.input.get("start") or None,
            job=validate(TrainingJob, dict(snakemake.params.items()), "training"),
            model=snakemake.output.model,
            history=snakemake.output.history,
        )
