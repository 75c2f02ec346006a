import math

from tools.interval_coverage import TOY, rows


def test_every_kind_of_interval_is_measured():
    found = list(rows(TOY))
    assert len({what for what, *_ in found}) == 9
    for _, _, measured, note in found:
        assert 0 <= measured <= 100
        assert math.isfinite(float(note.rsplit(" ", 1)[1]))  # the mean width
