from densevse.runtime.logs import job
from densevse.vision.caffe import convert

if __name__ == "__main__":
    with job(snakemake.log[0]):
        convert(snakemake.input.caffemodel, snakemake.output[0])
