# A trained method ranks the test images and sentences: a row a query, from which all tables are computed.


rule retrieve:
    input:
        unpack(method_inputs),
        model=f"{MODELS}/round{{round}}/model.safetensors",
        code=retrieval_code,
    output:
        f"{RESULTS}/{{dataset}}/retrieval/{{protocol}}/{{variant}}/seed{{seed}}/round{{round}}.parquet",
    log:
        f"{RESULTS}/logs/retrieve/{{dataset}}_{{protocol}}_{{variant}}_seed{{seed}}_round{{round}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/retrieve/{{dataset}}_{{protocol}}_{{variant}}_seed{{seed}}_round{{round}}.tsv"
    wildcard_constraints:
        protocol="full|five_folds|first_1000|hodosh",
    conda:
        "../../envs/torch.yaml"
    threads: torch_threads
    resources:
        mem_mb=4000,
        gpu=SETTINGS.gpu,
    params:
        threads=torch_threads,
    script:
        "../scripts/retrieve.py"
