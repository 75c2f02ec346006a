from densevse.artifacts.identity import Identity
from densevse.data.files import Files
from densevse.inference.ensembles import summed
from densevse.inference.retrieval import encode_test, write_retrieval
from densevse.runtime.logs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        members = {f"member{number}": model for number, model in enumerate(snakemake.input.models)}
        encoded = encode_test(
            Files.of(dict(snakemake.input.items())),
            list(members.values()),
            snakemake.params.threads,
            snakemake.params.sentences,
        )
        of = Identity.of(snakemake.wildcards, split="test")
        score, output = summed(encoded.scorers), snakemake.output[0]
        write_retrieval(score, encoded, of, members, output, snakemake.params.top)
