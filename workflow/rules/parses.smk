# Sentences to constituency trees and dependencies, by Stanford CoreNLP or, for scenes, by the grammar they come from.


# Needs no code of the package as an input: an edit of it is no reason to obtain a gigabyte again.
rule get_corenlp:
    input:
        project=ROOT / "envs/corenlp/pom.xml",
    output:
        directory(f"{RESOURCES}/corenlp"),
    log:
        f"{RESULTS}/logs/get_corenlp.log",
    retries: 2
    localrule: True
    conda:
        "../../envs/corenlp.yaml"
    resources:
        mem_mb=1000,
    script:
        "../scripts/get_corenlp.py"


rule parse:
    input:
        images=f"{RESULTS}/{{dataset}}/images.parquet",
        captions=f"{RESULTS}/{{dataset}}/captions.parquet",
        home=[] if CORENLP_HOME else rules.get_corenlp.output[0],
        code=code("parse.py"),
    output:
        f"{RESULTS}/{{dataset}}/parses/{{parser}}/{{shard}}.parquet",
    log:
        f"{RESULTS}/logs/parse/{{dataset}}-{{parser}}-{{shard}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/parse/{{dataset}}-{{parser}}-{{shard}}.tsv"
    wildcard_constraints:
        parser=parsers_of("corenlp"),
    conda:
        "../../envs/corenlp.yaml"
    threads: 2
    resources:
        mem_mb=parser_memory,
        runtime=240,
    params:
        options=parser_options,
    script:
        "../scripts/parse.py"


rule parse_by_grammar:
    input:
        images=f"{RESULTS}/{{dataset}}/images.parquet",
        captions=f"{RESULTS}/{{dataset}}/captions.parquet",
        code=code("parse_by_grammar.py"),
    output:
        f"{RESULTS}/{{dataset}}/parses/{{parser}}/{{shard}}.parquet",
    log:
        f"{RESULTS}/logs/parse_by_grammar/{{dataset}}-{{parser}}-{{shard}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/parse_by_grammar/{{dataset}}-{{parser}}-{{shard}}.tsv"
    wildcard_constraints:
        parser=parsers_of("grammar"),
    conda:
        "../../envs/base.yaml"
    resources:
        mem_mb=1000,
    script:
        "../scripts/parse_by_grammar.py"
