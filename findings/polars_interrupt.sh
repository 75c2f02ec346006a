#!/usr/bin/env bash
# Guess, written before the run: "A library of data frames does not change what Ctrl-C does in a program that only
# imports it."
# Seen on 2026-11-30: after `import polars`, Ctrl-C (SIGINT) does not end a wait without limit, such as
# threading.Semaphore().acquire(); KeyboardInterrupt comes when the wait is over. polars puts a handler before Python's
# with SA_RESTART, by which the system takes up the wait again. A call of signal.signal after the import repairs it.
# Hurts: who waits in the main thread of a scheduler or server while some thread imports polars, as Snakemake does for
# its first job: Ctrl-C has no effect until a job ends.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
  polars==2.1.0
cd "$folder"
venv/bin/python - <<'PYTHON'
import subprocess
import sys

WAITS = """
import os, signal, threading, time
signal.signal(signal.SIGINT, signal.default_int_handler)
{first}
begun, ended = time.monotonic(), threading.Semaphore(0)

def interrupt():
    time.sleep(1)
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(3)
    ended.release()

threading.Thread(target=interrupt, daemon=True).start()
try:
    ended.acquire()
    time.sleep(0.1)
except KeyboardInterrupt:
    print(round(time.monotonic() - begun))
"""
AGAIN = "signal.signal(signal.SIGINT, signal.default_int_handler)"
seconds = {}
for first in ("pass", "import polars; print('polars', polars.__version__)", f"import polars; {AGAIN}"):
    done = subprocess.run([sys.executable, "-c", WAITS.format(first=first)], capture_output=True, text=True, check=True)
    print(first, done.stdout, sep="\n", end="")
    seconds[first] = int(done.stdout.split()[-1])
assert list(seconds.values()) == [1, 4, 1]
PYTHON
