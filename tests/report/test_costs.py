import pytest

from densevse.report.costs import costs, table
from densevse.runtime.errors import InputError
from densevse.runtime.logs import USED


def write(folder, stage, name, seconds, processor, memory):
    log = folder / "logs" / stage / f"{name}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text(f"<time> INFO at work\n<time> INFO done in {USED.format(seconds, processor, memory)}\n")


def test_the_longest_and_the_largest_job_of_each_stage_and_data_set(tmp_path):
    write(tmp_path, "train", "flickr8k_vse_seed0_round0", 259.2, 300.5, 1666.9)
    write(tmp_path, "train", "flickr8k_vse_seed1_round0", 370.4, 400, 1003.3)
    write(tmp_path, "train", "flickr8k_vse_seed2_round0", 5, 6, 2003.3)
    write(tmp_path, "parse", "scenes-grammar-00-of-01", 0.4, 0.3, 90)
    write(tmp_path, "train", "scenes_vse_seed0_round0", 9, 8, 500)
    (tmp_path / "logs/train/scenes_vsepp_seed0_round0.log").write_text("<time> ERROR no such file\n")
    for name in ("flickr8k", "scenes", "my_own", "my"):
        (tmp_path / name).mkdir()
    write(tmp_path, "read_dataset", "my_own", 3, 2, 700)
    write(tmp_path, "train", "my_own_vse_seed0_round0", 3, 2, 700)
    write(tmp_path, "table", "sco_4", 3, 2, 700)
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
    assert rows["processor"].tolist() == [0.3, 706.5, 8]
    assert rows["memory"].tolist() == [90, 2003, 500]
    assert "| train | flickr8k |    3 |            370 |           706 |           2,003 |" in table(rows)


def test_nothing_measured_is_an_error(tmp_path):
    with pytest.raises(InputError, match="expected logs/<stage>"):
        costs(tmp_path)
