from densevse.artifacts.identity import Identity
from densevse.data.files import Files
from densevse.inference.retrieval import encode_test, write_retrieval
from densevse.runtime.logs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        model = snakemake.input.model
        encoded = encode_test(
            Files.of(dict(snakemake.input.items())), [model], snakemake.params.threads, snakemake.params.sentences
        )
        of = Identity.of(snakemake.wildcards, split="test")
        models, output = {"model": model}, snakemake.output[0]
        write_retrieval(encoded.scorers[0], encoded, of, models, output, snakemake.params.top)
