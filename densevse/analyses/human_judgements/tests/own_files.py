"""Judgements of people, which the fuzz damages."""

from densevse.analyses.human_judgements.judgements import CROWD, EXPERTS, read_judgements
from tests.system.fuzz.readers import Target, captions


def targets() -> dict[str, Target]:
    """The readers of both files of judgements."""
    owners = captions()
    judged = {
        EXPERTS: "".join(f"a.jpg\t{n}.jpg#0\t1\t2\t3\n" for n in "bcd").encode(),
        CROWD: "".join(f"a.jpg\t{n}.jpg#0\t0.5\t1\t1\n" for n in "bcd").encode(),
    }
    return {
        f"judgements {who}": Target(judged, file, lambda folder: read_judgements(str(folder), owners))
        for who, file in (("experts", EXPERTS), ("crowd", CROWD))
    }
