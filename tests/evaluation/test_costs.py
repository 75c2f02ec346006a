import pytest

from densevse.errors import InputError
from densevse.evaluation.costs import costs, table

HEADER = "s\th:m:s\tmax_rss\tmax_vms\tmax_uss\tmax_pss\tio_in\tio_out\tmean_load\tcpu_time\n"


def write(folder, stage, name, *runs):
    file = folder / "benchmarks" / stage / f"{name}.tsv"
    file.parent.mkdir(parents=True, exist_ok=True)
    lines = (f"{seconds}\t0:00:01\t{memory}\t1\t1\t1\t1\t1\t1\t1\n" for seconds, memory in runs)
    file.write_text(HEADER + "".join(lines))


def test_the_longest_and_the_largest_job_of_each_stage_and_data_set(tmp_path):
    write(tmp_path, "train", "flickr8k_vse_seed0_round0", (259.2, 1666.9))
    write(tmp_path, "train", "flickr8k_vse_seed1_round0", (370.4, 1003.3), (5.0, 2003.3))
    write(tmp_path, "parse", "scenes-grammar-00-of-01", (0.4, "-"))
    write(tmp_path, "train", "scenes_vse_seed0_round0", (9, 500))
    for name in ("flickr8k", "scenes", "my_own", "my"):
        (tmp_path / name).mkdir()
    write(tmp_path, "read_dataset", "my_own", (3, 700))
    write(tmp_path, "train", "my_own_vse_seed0_round0", (3, 700))
    write(tmp_path, "table", "sco_4", (3, 700))
    rows = costs(tmp_path)
    others = rows[~rows["dataset"].isin(["flickr8k", "scenes"])]
    assert others[["stage", "dataset"]].values.tolist() == [
        ["read_dataset", "my_own"],
        ["table", "sco_4"],
        ["train", "my_own"],
    ]
    rows = rows[rows["dataset"].isin(["flickr8k", "scenes"])]
    assert rows[["stage", "dataset", "jobs"]].values.tolist() == [
        ["parse", "scenes", 1],
        ["train", "flickr8k", 3],
        ["train", "scenes", 1],
    ]
    assert rows["seconds"].tolist() == [0.4, 370.4, 9]
    assert rows["memory"].tolist()[1:] == [2003.3, 500]
    assert "| train | flickr8k |    3 |            370 |           2,003 |" in table(rows)


def test_nothing_measured_is_an_error(tmp_path):
    with pytest.raises(InputError, match="expected benchmarks/<stage>"):
        costs(tmp_path)
