"""A real browser, Chromium without a window, driven by its DevTools protocol over two pipes.

`.ci/run` installs it. Where there is none, tests of pages are skipped, and say so.
"""

import base64
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
WIDTHS = (390, 1280)
"""Pixels of a telephone and of a screen."""
_PATIENCE = 60_000
"""Milliseconds until a condition that never holds is an error: none waits so long that holds."""
_UNTIL = """new Promise((done, failed) => {
  const late = Date.now() + %d;
  (function look() {
    if (%s) done(true); else if (Date.now() > late) failed("never: " + %s); else setTimeout(look, 20);
  })();
})"""

_CONTRAST = """(() => {
  const parts = (colour) => {
    const [r, g, b, a = 1] = colour.match(/[\\d.]+/g).map(Number);
    return [r, g, b, a];
  };
  const over = (top, below) => top.slice(0, 3).map((one, n) => one * top[3] + below[n] * (1 - top[3]));
  const behind = (element) => {
    if (!element) return [255, 255, 255];
    const own = parts(getComputedStyle(element).backgroundColor);
    return own[3] === 1 ? own.slice(0, 3) : over(own, behind(element.parentElement));
  };
  const light = (colour) => {
    const linear = (part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    const [r, g, b] = colour.map((one) => linear(one / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const faint = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode.textContent.trim(), element = walker.currentNode.parentElement;
    const style = getComputedStyle(element);
    if (!text || !element.getClientRects().length || style.visibility !== "visible" || element.closest("svg")) continue;
    const ground = behind(element), ink = light(over(parts(style.color), ground)), paper = light(ground);
    const ratio = (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05), size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
    if (ratio < (large ? 3 : 4.5)) faint.add(`${ratio.toFixed(2)}: ${text.slice(0, 40)}`);
  }
  return [...faint];
})()"""
"""The texts whose contrast with what is behind them is below that of WCAG 2.2, AA (1.4.3)."""
_CONTROLS = """[...document.querySelectorAll("a[href], button, input, select, textarea, summary")].filter(
  (one) => one.getClientRects().length && !one.disabled && getComputedStyle(one).visibility === "visible")"""
_FOCUSED = f"{_CONTROLS}.indexOf(document.activeElement)"


class Browser:
    """One page of a browser; a context manager."""

    def __init__(self, folder: Path) -> None:
        """`folder` is for the browser's own files."""
        self._folder, self._number, self.logged = folder, 0, []

    def __enter__(self) -> "Browser":
        theirs, self._ours = os.pipe(), os.pipe()
        self._to, self._from = theirs[1], self._ours[0]
        # Chromium reads file 3 and writes file 4.
        command = f'exec "$0" "$@" 3<&{theirs[0]} 4>&{self._ours[1]}'
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "about:blank"]
        self._process = subprocess.Popen(
            ["bash", "-c", command, CHROMIUM, *options, f"--user-data-dir={self._folder}"],
            pass_fds=(theirs[0], self._ours[1]),
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs[0])
        os.close(self._ours[1])
        self._read = os.fdopen(self._from, "rb")
        self._session: dict[str, str] = {}
        (target, *_) = [one for one in self.call("Target.getTargets")["targetInfos"] if one["type"] == "page"]
        attached = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)
        self._session = {"sessionId": attached["sessionId"]}
        for domain in ("Page", "Runtime", "Log", "DOM"):
            self.call(f"{domain}.enable")
        return self

    def __exit__(self, *_: object) -> None:
        self.call("Browser.close")
        self._process.wait(30)
        self._read.close()
        os.close(self._to)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """The result of a method of the protocol. What the page logs meanwhile is kept in `logged`."""
        self._number += 1
        asked = {"id": self._number, "method": method, "params": parameters, **self._session}
        os.write(self._to, json.dumps(asked).encode() + b"\0")
        while True:
            answer = json.loads(self._message())
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return answer["result"]
            if answer.get("method") in ("Log.entryAdded", "Runtime.exceptionThrown"):
                self.logged.append(answer["params"])

    def _message(self) -> bytes:
        parts = []
        while (byte := self._read.read(1)) != b"\0":
            assert byte, "the browser has ended"
            parts.append(byte)
        return b"".join(parts)

    def run(self, script: str) -> Any:
        """The value of an expression of JavaScript in the page; of a promise, what it becomes."""
        found = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def wait(self, condition: str) -> None:
        """Waits until an expression of JavaScript is true."""
        self.run(_UNTIL % (_PATIENCE, condition, json.dumps(condition)))

    def open(self, address: str, width: int = 1280) -> None:
        """Opens an address in a window of that many pixels, and waits for the page."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 800
        )
        self.call("Page.navigate", url=address)
        self.wait(f"location.href.startsWith({json.dumps(address)}) && document.readyState === 'complete'")

    def page_faults(self, width: int) -> list[str]:
        """What a reader misses: width beyond the window, faint texts, and controls that Tab does not reach."""
        wide = self.run("document.documentElement.scrollWidth")
        faults = [f"{wide} pixels wide"] if wide > width else []
        controls, reached = self.run(f"{_CONTROLS}.map((one) => one.outerHTML.slice(0, 80))"), set()
        self.run("document.activeElement.blur()")
        for _ in range(len(controls) + 1):
            self.press("Tab")
            reached.add(self.run(_FOCUSED))
        missed = [control for number, control in enumerate(controls) if number not in reached]
        return [*faults, *self.run(_CONTRAST), *missed]

    def press(self, key: str) -> None:
        """Presses a key, such as Tab."""
        codes = {"Tab": (9, ""), "Enter": (13, "\r")}
        number, text = codes[key]
        for kind in ("keyDown", "keyUp"):
            given = {"text": text} if kind == "keyDown" and text else {}
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=number, **given)

    def type(self, text: str) -> None:
        """Types a text into what has the focus."""
        self.call("Input.insertText", text=text)

    def choose(self, selector: str, file: Path) -> None:
        """Chooses a file in an input."""
        root = self.call("DOM.getDocument")["root"]["nodeId"]
        node = self.call("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        self.call("DOM.setFileInputFiles", files=[str(file)], nodeId=node)

    def screenshot(self, path: Path) -> None:
        """Writes what the whole page looks like, as PNG."""
        data = self.call("Page.captureScreenshot", captureBeyondViewport=True)["data"]
        path.write_bytes(base64.b64decode(data))


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    """A browser without a window."""
    if CHROMIUM is None:
        pytest.skip("no Chromium is installed: apt-get install chromium")
    with Browser(tmp_path_factory.mktemp("chromium")) as opened:
        yield opened
