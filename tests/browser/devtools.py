# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium, driven by its DevTools protocol: what tests and benchmarks of the HTML report need of
it. Python's websocket-client is used for the connection (Debian: python3-websocket)."""
import base64
import json
import os
import shutil
import subprocess
import tempfile
import time
import urllib.request


def find():
    """The browser's path, or None."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if shutil.which(name):
            return shutil.which(name)
    return None


class Failure(Exception):
    pass


class Browser:
    """One page. `problems` collects what its console, its network or its policy complained of."""

    def __init__(self, patience=120):
        import websocket

        self.patience = patience
        self.folder = tempfile.mkdtemp(prefix="retally-browser.")
        self.log = open(os.path.join(self.folder, "log"), "wb")
        self.process = subprocess.Popen(
            [find(), "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--disable-sync",
             "--remote-allow-origins=*", "--remote-debugging-port=0", "--user-data-dir=" + self.folder, "about:blank"],
            stdout=self.log, stderr=self.log)
        self.n = 0
        self.problems, self.requests, self.loaded = [], [], False
        try:
            self.socket = websocket.create_connection(self._address(), timeout=patience)
            for domain in ("Page", "Runtime", "Network", "Log"):
                self.send(domain + ".enable")
        except BaseException:
            self.close()
            raise

    def _address(self):
        path = os.path.join(self.folder, "DevToolsActivePort")
        end = time.monotonic() + self.patience
        while time.monotonic() < end and self.process.poll() is None:
            if os.path.exists(path) and open(path).read().count("\n"):
                port = open(path).read().split("\n")[0]
                for target in json.load(urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list")):
                    if target["type"] == "page":
                        return target["webSocketDebuggerUrl"]
            time.sleep(0.1)
        raise Failure("the browser did not start: " + open(self.log.name, errors="replace").read()[-500:])

    def _take(self, message):
        method, p = message.get("method"), message.get("params", {})
        if method == "Page.loadEventFired":
            self.loaded = True
        elif method == "Network.requestWillBeSent":
            self.requests.append(p["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            d = p["exceptionDetails"]
            self.problems.append(d.get("exception", {}).get("description") or d["text"])
        elif method == "Runtime.consoleAPICalled" and p["type"] in ("error", "warning", "assert"):
            self.problems.append(str([a.get("value") for a in p["args"]]))
        elif method == "Log.entryAdded" and p["entry"]["level"] in ("error", "warning"):
            self.problems.append(p["entry"]["text"])
        elif method == "Page.javascriptDialogOpening":
            self.problems.append("a dialog: " + p["message"])
            self.socket.send(json.dumps({"id": 0, "method": "Page.handleJavaScriptDialog", "params": {"accept": True}}))

    def send(self, method, **params):
        self.n += 1
        self.socket.send(json.dumps({"id": self.n, "method": method, "params": params}))
        while True:
            message = json.loads(self.socket.recv())
            if message.get("id") == self.n:
                if "error" in message:
                    raise Failure(f"{method}: {message['error']['message']}")
                return message["result"]
            self._take(message)

    def open(self, path):
        """Opens a file and waits until its scripts have run."""
        self.problems, self.requests, self.loaded = [], [], False
        self.send("Page.navigate", url="file://" + os.path.abspath(path))
        while not self.loaded:
            self._take(json.loads(self.socket.recv()))
        return self

    def run(self, code):
        """The value of an expression in the page; promises are waited for."""
        r = self.send("Runtime.evaluate", expression=code, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in r:
            d = r["exceptionDetails"]
            raise Failure(f"{code}: {d.get('exception', {}).get('description') or d['text']}")
        return r["result"].get("value")

    def key(self, name, text=None):
        codes = {"Tab": 9, "Enter": 13, "Escape": 27, "End": 35, "Home": 36, "ArrowLeft": 37, "ArrowUp": 38,
                 "ArrowRight": 39, "ArrowDown": 40}
        if name == "Enter":
            text = "\r"
        params = {"key": name, "code": name, "windowsVirtualKeyCode": codes.get(name, ord(name[0]))}
        if text:
            params["text"] = text
        self.send("Input.dispatchKeyEvent", type="keyDown", **params)
        self.send("Input.dispatchKeyEvent", type="keyUp", key=name, code=name)

    def type(self, text):
        for c in text:
            self.send("Input.dispatchKeyEvent", type="keyDown", key=c, text=c)
            self.send("Input.dispatchKeyEvent", type="keyUp", key=c)

    def point(self, x, y):
        self.send("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def size(self, width, height=900):
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        self.frame()

    def scheme(self, dark, media=""):
        self.send("Emulation.setEmulatedMedia", media=media,
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.frame()

    def frame(self):
        self.run("new Promise(f => requestAnimationFrame(() => requestAnimationFrame(f)))")

    def picture(self, path, whole=False):
        data = self.send("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
        with open(path, "wb") as f:
            f.write(base64.b64decode(data))

    def close(self):
        self.process.kill()
        self.process.wait()
        self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)
