#!/usr/bin/env bash
# Guess, written before the run: "A library of data frames does not change what Ctrl-C does in a program that only
# imports it."
# Seen on 2026-11-30: after `import polars`, Ctrl-C (SIGINT) does not end a wait without limit, such as
# threading.Semaphore().acquire(); KeyboardInterrupt comes when the wait is over. polars puts a handler before Python's
# with SA_RESTART, by which the system takes up the wait again. A call of signal.signal after the import repairs it.
# Hurts: schedulers and servers whose main thread waits for others while some thread imports polars, as Snakemake's does
# for its first job: Ctrl-C has no effect until a job ends.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
  polars==2.1.0
cd "$folder"
cat > waits.py <<'PYTHON'
import os
import signal
import sys
import threading
import time

signal.signal(signal.SIGINT, signal.default_int_handler)
if "import" in sys.argv:
    import polars  # noqa: F401
if "set_again" in sys.argv:
    signal.signal(signal.SIGINT, signal.default_int_handler)
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
    pass
print(round(time.monotonic() - begun))
PYTHON
venv/bin/python -c "import polars; print('polars', polars.__version__)"
for given in "" "import" "import set_again"; do
  # shellcheck disable=SC2086
  seconds=$(venv/bin/python waits.py $given)
  echo "seconds of a wait that is interrupted after 1 and over after 4, with '$given': $seconds"
  case $given in
    import) test "$seconds" = 4 ;;
    *) test "$seconds" = 1 ;;
  esac
done
