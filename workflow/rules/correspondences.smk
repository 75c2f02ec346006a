# HM-LSTM's loop (Fig 3, step 2a): the model of round t - 1 says which region each phrase of round t means.


rule correspond:
    input:
        unpack(method_inputs),
        previous=round_before,
        code=code("correspond.py"),
    output:
        f"{MODELS}/round{{round}}/correspondences.parquet",
    log:
        f"{RESULTS}/logs/correspond/{{dataset}}_{{variant}}_seed{{seed}}_round{{round}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/correspond/{{dataset}}_{{variant}}_seed{{seed}}_round{{round}}.tsv"
    wildcard_constraints:
        round=r"[1-9]\d*",
    conda:
        "../../envs/torch.yaml"
    threads: torch_threads
    resources:
        mem_mb=8000,
        runtime=240,
        gpu=SETTINGS.gpu,
    params:
        settings=assigning_settings,
        round=round_number,
        threads=torch_threads,
    script:
        "../scripts/correspond.py"


rule correspondence_accuracy:
    input:
        correspondences=rules.correspond.output[0],
        boxes=f"{RESULTS}/{{dataset}}/boxes.parquet",
        regions=regions_of_method,
        code=code("correspondence_accuracy.py"),
    output:
        f"{MODELS}/round{{round}}/correspondence_accuracy.parquet",
    log:
        f"{RESULTS}/logs/correspondence_accuracy/{{dataset}}_{{variant}}_seed{{seed}}_round{{round}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/correspondence_accuracy/{{dataset}}_{{variant}}_seed{{seed}}_round{{round}}.tsv"
    wildcard_constraints:
        round=r"[1-9]\d*",
    conda:
        "../../envs/base.yaml"
    resources:
        mem_mb=4000,
    params:
        candidates=candidates,
    script:
        "../scripts/correspondence_accuracy.py"
