# The embedded data set: its pictures and sentences from a seed, and the small network that is trained on it.


rule make_scenes:
    input:
        code=code("make_scenes.py"),
    output:
        f"{RESOURCES}/{{dataset}}/scenes.zip",
    log:
        f"{RESULTS}/logs/make_scenes/{{dataset}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/make_scenes/{{dataset}}.tsv"
    wildcard_constraints:
        dataset=of_reader("scenes"),
    conda:
        "../../envs/base.yaml"
    resources:
        mem_mb=500,
    params:
        options=reader_options,
    script:
        "../scripts/make_scenes.py"


rule train_network:
    input:
        unpack(dataset_sources),
        image_table=f"{RESULTS}/{{dataset}}/images.parquet",
        box_table=f"{RESULTS}/{{dataset}}/boxes.parquet",
        class_names=class_names,
        code=code("train_network.py"),
    output:
        f"{RESULTS}/{{dataset}}/networks/{{network}}.safetensors",
    log:
        f"{RESULTS}/logs/train_network/{{dataset}}-{{network}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/train_network/{{dataset}}-{{network}}.tsv"
    wildcard_constraints:
        network=trained_here(),
    conda:
        "../../envs/torch.yaml"
    threads: torch_threads
    resources:
        mem_mb=3000,
        gpu=SETTINGS.gpu,
    params:
        network=network_training,
        sources=source_names,
        threads=torch_threads,
    script:
        "../scripts/train_network.py"
