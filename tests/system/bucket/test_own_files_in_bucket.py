"""Files of the user's where results lie in a bucket: copied there once, or named by their address."""

import shutil
from random import Random

import pytest

from tests.system.bucket.places import BUCKET, SECRET, on_server
from tests.system.newcomer.mornings import add_photographs, configuration

boto3 = pytest.importorskip("boto3", reason="boto3 is not installed; `make bucket` installs it")
pytestmark = pytest.mark.long

IMAGES = "results/mine/images.parquet"


def settings(photographs):
    values = configuration()
    values["datasets"]["mine"]["local"]["images"] = photographs
    return values


def bring(project):
    """Photographs of one's own, as a folder and as a zip, and a folder of sentences."""
    folder, random = project.folder / "mine", Random(0)
    for part in ("photographs", "texts"):
        (folder / part).mkdir(parents=True)
    (folder / "texts/sentences.txt").touch()
    for split in ("train", "val", "test"):
        add_photographs(folder, split, 2, random)
    shutil.make_archive(str(folder / "photographs"), "zip", folder / "photographs")


def test_files_and_folders_of_the_user_s_are_copied_once(checkout, folder, tmp_path):
    bucket, storage = folder
    project = checkout(settings("mine/photographs.zip"), storage)
    bring(project)
    assert project.planned(IMAGES) == {"upload_file": 1, "upload_folder": 1, "read_dataset": 1}
    project.run(IMAGES)
    own = bucket / "resources/own/relative/mine"
    assert (own / "photographs.zip").read_bytes() == (project.folder / "mine/photographs.zip").read_bytes()
    (project.folder / "mine/texts/sentences.txt").touch()
    assert project.planned(IMAGES) == {}

    with (project.folder / "mine/texts/sentences.txt").open("a") as file:
        file.write("0.jpg#2\tA dog .\n")
    assert project.planned(IMAGES) == {"upload_folder": 1, "read_dataset": 1}
    project.run(IMAGES)
    assert (own / "texts/sentences.txt").read_text().endswith("A dog .\n")
    assert project.planned(IMAGES) == {}

    # A path that is not there is refused, although its copy is.
    (project.folder / "mine/photographs.zip").unlink()
    refused = project.run("--dry-run", IMAGES, check=False)
    assert refused.returncode
    assert "datasets.mine.local.images: mine/photographs.zip is not there" in refused.stdout


def test_a_file_in_a_bucket_is_read_where_it_lies(checkout, server):
    address = f"s3://{BUCKET}/data/photographs.zip"
    project = checkout(settings(address), on_server())
    bring(project)
    client = boto3.client(
        "s3",
        endpoint_url=server.address,
        region_name="us-east-1",
        aws_access_key_id=SECRET,
        aws_secret_access_key=SECRET,
    )
    client.create_bucket(Bucket=BUCKET)
    refused = project.run("--dry-run", IMAGES, check=False)
    assert refused.returncode
    assert f"datasets.mine.local.images: {address} is not there" in refused.stdout

    client.upload_file(str(project.folder / "mine/photographs.zip"), BUCKET, "data/photographs.zip")
    assert project.planned(IMAGES) == {"upload_folder": 1, "read_dataset": 1}
    project.run(IMAGES)
    assert project.planned(IMAGES) == {}
    assert not [name for name in server.objects() if name.endswith("own/relative/mine/photographs.zip")]
    client.upload_file(str(project.folder / "mine/photographs.zip"), BUCKET, "data/photographs.zip")
    assert project.planned(IMAGES) == {"read_dataset": 1}
