"""`make interval-coverage`: how often the project's 95% intervals contain the true value, as a table."""

from tools.interval_coverage.coverage import FULL, rows


def main() -> None:
    """Prints a row as soon as it is known."""
    print("| interval of | expected, % | contains the true value, % | note |", "|---|---|---:|---|", sep="\n")
    for what, expected, measured, note in rows(FULL):
        print(f"| {what} | {expected} | {measured:.0f} | {note} |", flush=True)


if __name__ == "__main__":
    main()
