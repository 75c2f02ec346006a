# One rule trains every method, one goes on from the round before. What a method reads, its config says.


wildcard_constraints:
    variant="|".join(variant_names(SETTINGS)),


rule train:
    input:
        unpack(method_inputs),
        code=training_code,
    output:
        model=f"{MODELS}/round0/model.safetensors",
        history=f"{MODELS}/round0/history.parquet",
    log:
        f"{RESULTS}/logs/train/{{dataset}}_{{variant}}_seed{{seed}}_round0.log",
    benchmark:
        f"{RESULTS}/benchmarks/train/{{dataset}}_{{variant}}_seed{{seed}}_round0.tsv"
    conda:
        "../../envs/torch.yaml"
    threads: torch_threads
    resources:
        mem_mb=8000,
        runtime=1440,
        gpu=SETTINGS.gpu,
    params:
        settings=training_settings,
        seed=training_seed,
        threads=torch_threads,
    script:
        "../scripts/train.py"


rule train_round:
    input:
        unpack(method_inputs),
        previous=round_before,
        correspondences=f"{MODELS}/round{{round}}/correspondences.parquet",
        code=training_code,
    output:
        model=f"{MODELS}/round{{round}}/model.safetensors",
        history=f"{MODELS}/round{{round}}/history.parquet",
    log:
        f"{RESULTS}/logs/train/{{dataset}}_{{variant}}_seed{{seed}}_round{{round}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/train/{{dataset}}_{{variant}}_seed{{seed}}_round{{round}}.tsv"
    wildcard_constraints:
        round=r"[1-9]\d*",
    conda:
        "../../envs/torch.yaml"
    threads: torch_threads
    resources:
        mem_mb=8000,
        runtime=1440,
        gpu=SETTINGS.gpu,
    params:
        settings=training_settings,
        seed=training_seed,
        threads=torch_threads,
    script:
        "../scripts/train.py"
