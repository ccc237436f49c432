"""A browser that tests drive: Debian's chromium, by the WebDriver protocol of its driver.

Only the standard library is used. Every wait has an end, and ends with what was waited for.
"""

import base64
import http.client
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time

# How long a test waits for something to happen in the page, in seconds; long, for loaded machines.
PATIENCE = float(os.environ.get("PATIENCE", "60"))

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


class Failed(Exception):
    """The browser refused, or what was waited for did not happen."""


class Browser:
    """One headless browser with one window."""

    def __init__(self):
        self.profile = tempfile.TemporaryDirectory(prefix="bellwether-lab-")
        self.driver = subprocess.Popen(
            ["chromedriver", "--port=0"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.port = self._port()
        self.session = None
        self.requests = {}
        # What the page saves.
        self.saved = pathlib.Path(self.profile.name, "saved")
        self.saved.mkdir()
        args = [
            "--headless=new",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--disable-background-networking",
            "--force-color-profile=srgb",
            f"--user-data-dir={self.profile.name}",
        ]
        if os.geteuid() == 0:
            args.append("--no-sandbox")
        wanted = {
            "browserName": "chrome",
            "goog:chromeOptions": {
                "args": args,
                "prefs": {"download.default_directory": str(self.saved)},
            },
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
            "timeouts": {"script": round(PATIENCE * 1000)},
        }
        answer = self._ask("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self.session = answer["sessionId"]

    def _port(self):
        for line in self.driver.stdout:
            found = re.search(r"started successfully on port (\d+)", line)
            if found:
                return int(found.group(1))
        raise Failed("chromedriver ended before it listened")

    def _ask(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        text = None if body is None else json.dumps(body)
        connection.request(method, path, text, {"Content-Type": "application/json"})
        answer = json.loads(connection.getresponse().read())["value"]
        connection.close()
        if isinstance(answer, dict) and "error" in answer:
            raise Failed(f"{answer['error']}: {answer['message'].splitlines()[0]}")
        return answer

    def ask(self, method, path, body=None):
        """A request of this session."""
        return self._ask(method, f"/session/{self.session}{path}", body)

    def close(self):
        """Ends the browser and its driver."""
        try:
            if self.session:
                self.ask("DELETE", "")
        finally:
            self.driver.terminate()
            self.driver.wait(PATIENCE)
            self.driver.stdout.close()
            self._forget()

    def _forget(self):
        """Removes the profile. The last processes of the browser may write there while they end."""
        end = time.monotonic() + PATIENCE
        while os.path.exists(self.profile.name) and time.monotonic() < end:
            shutil.rmtree(self.profile.name, ignore_errors=True)
            time.sleep(0.03)
        self.profile.cleanup()

    def anew(self, origin):
        """An empty page, as that of a new browser: nothing that this origin keeps, or that was set."""
        old = self.ask("GET", "/window")
        page = self.ask("POST", "/window/new", {"type": "tab"})["handle"]
        self.ask("DELETE", "/window")
        assert self.ask("GET", "/window/handles") == [page], f"{old} is still there"
        self.ask("POST", "/window", {"handle": page})
        self.tell("Page.bringToFront")  # so that it has the focus
        self.tell("Storage.clearDataForOrigin", origin=origin, storageTypes="all")
        self.tell("Browser.resetPermissions")
        for path in self.saved.iterdir():
            path.unlink()
        self.complaints()
        self.requests.clear()

    def tell(self, command, **params):
        """A command of the browser's own protocol."""
        return self.ask("POST", "/goog/cdp/execute", {"cmd": command, "params": params})

    def open(self, address):
        """Opens an address in a page of its own, not as a change of the fragment."""
        self.ask("POST", "/url", {"url": "about:blank"})
        self.ask("POST", "/url", {"url": address})

    def size(self, width, height):
        """Makes the page itself this large, whatever the window has around it."""
        self.tell("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)

    def prefer(self, **features):
        """Sets media features such as prefers_color_scheme="dark"."""
        rows = [{"name": k.replace("_", "-"), "value": v} for k, v in features.items()]
        self.tell("Emulation.setEmulatedMedia", features=rows)

    def script(self, text, *arguments):
        """Runs a script in the page and returns its value."""
        return self.ask("POST", "/execute/sync", {"script": text, "args": list(arguments)})

    def later(self, text, *arguments):
        """Runs a script in the page until it calls its last argument, and returns what that is given."""
        return self.ask("POST", "/execute/async", {"script": text, "args": list(arguments)})

    def wait(self, what, text, *arguments, within=PATIENCE):
        """Waits until a script returns something true, and returns it."""
        end = time.monotonic() + within
        while True:
            value = self.script(text, *arguments)
            if value:
                return value
            if time.monotonic() > end:
                notice = self.script(
                    "return [...document.querySelectorAll('.wrong, .problem, .notice')]"
                    ".filter((e) => e.checkVisibility()).map((e) => e.textContent).join(' | ')"
                )
                raise Failed(f"{what} did not happen within {within:.0f} s; the page says: {notice!r}")
            time.sleep(0.03)

    def find(self, css):
        """The element that a selector names."""
        return self.ask("POST", "/element", {"using": "css selector", "value": css})[ELEMENT]

    def click(self, css):
        """Clicks an element as a pointer does: it must be in sight, and nothing above it.

        It is waited for until it can be used: a page shows it, or lets it be used, in its own time.
        """
        end = time.monotonic() + PATIENCE
        while True:
            self.wait(f"a usable {css}", "const it = document.querySelector(arguments[0]);"
                      "return it?.checkVisibility() && !it.disabled", css)
            try:
                return self.ask("POST", f"/element/{self.find(css)}/click", {})
            except Failed as error:
                # The page may have replaced it since it was found; then nothing was clicked.
                gone = str(error).startswith(("stale element reference", "no such element"))
                if not gone or time.monotonic() > end:
                    raise

    def tap(self, css):
        """Taps an element as a finger does, where it stands in the middle of the window."""
        x, y = self.wait(f"a usable {css}", """
            const it = document.querySelector(arguments[0]);
            if (!it?.checkVisibility() || it.disabled) return null;
            it.scrollIntoView({block: 'center'});
            const {left, top, width, height} = it.getBoundingClientRect();
            return [left + width / 2, top + height / 2];
        """, css)
        self.tell("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
        self.tell("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    def write(self, css, text):
        """Writes into a field in place of what is there."""
        element = self.find(css)
        self.ask("POST", f"/element/{element}/clear", {})
        self.ask("POST", f"/element/{element}/value", {"text": text})

    def choose(self, css, value):
        """Chooses an option of a select."""
        self.script(
            "const e = document.querySelector(arguments[0]); e.value = arguments[1];"
            "e.dispatchEvent(new Event('input', {bubbles: true}));"
            "e.dispatchEvent(new Event('change', {bubbles: true}))",
            css,
            value,
        )

    def keys(self, *keys, shift=False, ctrl=False):
        """Presses keys, one after the other."""
        held = (["\ue008"] if shift else []) + (["\ue009"] if ctrl else [])
        steps = [{"type": "keyDown", "value": key} for key in held]
        for key in keys:
            steps += [{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]
        steps += [{"type": "keyUp", "value": key} for key in held]
        actions = [{"type": "key", "id": "keys", "actions": steps}]
        self.ask("POST", "/actions", {"actions": actions})

    def drag(self, start, end):
        """Drags from one point of the page to another."""

        def to(point):
            x, y = (round(value) for value in point)
            return {"type": "pointerMove", "duration": 20, "x": x, "y": y}

        middle = [(a + b) / 2 for a, b in zip(start, end)]
        steps = [to(start), {"type": "pointerDown", "button": 0}, to(middle), to(end)]
        steps.append({"type": "pointerUp", "button": 0})
        actions = [{"type": "pointer", "id": "mouse", "actions": steps}]
        self.ask("POST", "/actions", {"actions": actions})

    def move(self, x, y, click=False):
        """Moves the pointer to a point of the page, and clicks there if that is wanted."""
        steps = [{"type": "pointerMove", "duration": 20, "x": round(x), "y": round(y)}]
        if click:
            steps += [{"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]
        self.ask("POST", "/actions", {"actions": [{"type": "pointer", "id": "mouse", "actions": steps}]})

    def give(self, css, path):
        """Chooses a file in a field for files."""
        self.ask("POST", f"/element/{self.find(css)}/value", {"text": str(path)})

    def file(self, name):
        """Waits until the page has saved a file of this name, and returns its text."""
        end = time.monotonic() + PATIENCE
        while not (self.saved / name).exists():
            if time.monotonic() > end:
                there = [path.name for path in self.saved.iterdir()]
                raise Failed(f"{name} was not saved within {PATIENCE:.0f} s; there are {there}")
            time.sleep(0.03)
        return (self.saved / name).read_text()

    def copied(self):
        """What the page has copied last."""
        for name in ("clipboard-read", "clipboard-write"):
            self.ask("POST", "/permissions", {"descriptor": {"name": name}, "state": "granted"})
        return self.script("return navigator.clipboard.readText()")

    def screenshot(self):
        """What the window shows, as PNG."""
        return base64.b64decode(self.ask("GET", "/screenshot"))

    def complaints(self):
        """Console errors and failed requests since the last call, one line each."""
        found = []
        for entry in self.ask("POST", "/se/log", {"type": "browser"}):
            if entry["level"] in ("SEVERE", "WARNING"):
                found.append(f"console: {entry['message']}")
        for entry in self.ask("POST", "/se/log", {"type": "performance"}):
            event = json.loads(entry["message"])["message"]
            params = event.get("params", {})
            if event["method"] == "Network.requestWillBeSent":
                # The browser has pages of its own when it starts.
                if params["documentURL"].startswith("http://127.0.0.1:"):
                    self.requests[params["requestId"]] = params["request"]["url"]
            elif event["method"] == "Network.responseReceived":
                answer = params["response"]
                if answer["status"] >= 400:
                    found.append(f"request: {answer['status']} {answer['url']}")
            elif event["method"] == "Network.loadingFailed" and not params.get("canceled"):
                if params["requestId"] in self.requests:
                    url = self.requests[params["requestId"]]
                    found.append(f"request: {params.get('errorText')} {url}")
        return found
