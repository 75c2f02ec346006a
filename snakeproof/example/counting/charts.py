"""Makes a chart of counts."""

from collections import Counter

from counting.bars import bar
from counting.kinds import CHART, COUNTS
from snakeproof import schema


def write_chart(counts: list[str], output: str, rows: int) -> None:
    """Writes the most frequent words of all texts, as many as `rows`."""
    total: Counter[str] = Counter()
    for word, count in schema.read_all(counts, COUNTS)[["word", "count"]].itertuples(index=False):
        total[word] += count
    found = sorted(total.items(), key=lambda item: (-item[1], item[0]))[:rows]
    most = max((count for _, count in found), default=1)
    chart = [{"word": word, "count": count, "bar": bar(count / most)} for word, count in found]
    schema.write(chart, CHART, output)
