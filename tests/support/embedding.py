"""A page that puts a survey into a frame and watches it: whatever it can see, and every byte that the browser sends."""

import http.server
import socket
import socketserver
import threading
import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass

from support.cutting_proxy import pump

WATCH = """
const seen = [];
const note = (...what) => seen.push(JSON.stringify(what));
const frame = document.querySelector("iframe");
const box = document.querySelector("#box");
const nameOf = (target) => target?.id || target?.nodeName || "window";
const view = visualViewport;
const scrolls = () => [scrollX, scrollY, box.scrollLeft, box.scrollTop, view.pageLeft, view.pageTop];
const sizes = () => ["x", "y", "width", "height"].map((side) => frame.getBoundingClientRect()[side]);
const KINDS = `message focus blur focusin focusout resize hashchange popstate pagehide visibilitychange keydown keyup
  beforeinput input change click pointerdown pointerenter touchstart wheel storage error unhandledrejection load
  securitypolicyviolation selectionchange fullscreenchange online offline`.split(/\\s+/);
for (const kind of KINDS) addEventListener(kind, ({ target, data }) => note(kind, nameOf(target), data ?? null), true);
for (const kind of ["scroll", "scrollend"]) {
  addEventListener(kind, () => note("scroll", ...scrolls()), true);
  view.addEventListener(kind, () => note("scroll", ...scrolls()));
}
view.addEventListener("resize", () => note("zoom", view.width, view.height));
new ResizeObserver(() => note("size", ...sizes())).observe(frame);
new MutationObserver((all) => note("changed", all.length)).observe(frame, { attributes: true });
const ENTRIES = ["resource", "navigation", "layout-shift", "mark", "measure", "element", "soft-navigation"];
new PerformanceObserver((list) => list.getEntries().forEach((entry) => note("entry", entry.entryType, entry.name)))
  .observe({ entryTypes: ENTRIES.filter((type) => PerformanceObserver.supportedEntryTypes.includes(type)) });
window.look = () => JSON.stringify({
  scrolls: scrolls(), sizes: sizes(), page: document.documentElement.scrollHeight, title: document.title,
  history: history.length, address: location.href, frames: [length, frame.contentWindow.length],
  active: nameOf(document.activeElement), focused: document.hasFocus(), attributes: frame.outerHTML,
  used: navigator.userActivation.hasBeenActive, entries: performance.getEntriesByType("resource").length,
  unreadable: frame.contentDocument === null,
});
// A browser may say once or twice that it has scrolled to one place; everything else counts.
window.watched = () => seen.filter((line, place) => line !== seen[place - 1] || !line.startsWith('["scroll"'));
"""
CLIPPED = "#box { width: 220px; height: 160px; overflow: hidden }"  # the rest of the frame is out of sight
HOST = """<!doctype html><meta name="viewport" content="width=device-width">
<title>Host</title><link rel="icon" href="data:,">
<style>body {{ height: 4000px }} iframe {{ width: {width}; height: 640px; border: 0 }} {style}</style>
<button id="before">Before</button><div id="box"><iframe src="{page}" title="Survey"></iframe></div><p>After</p>
<script>{watch}</script>"""


class Host(http.server.BaseHTTPRequestHandler):
    """Serves one page."""

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(self.server.page.encode())

    def log_message(self, *ignored):
        pass


@contextmanager
def host_server():
    """A web server on another site than the collector: what is `localhost` is not `127.0.0.1`."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Host) as server:
        server.page, server.url = "", f"http://localhost:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def host_page(url, name, *, clipped=False):
    """Return the page that embeds a survey and watches it."""
    style, width = (CLIPPED, "900px") if clipped else ("", "100%")
    return HOST.format(page=f"{url}/s/{name}", watch=WATCH, style=style, width=width)


@dataclass(frozen=True)
class Sent:
    """A request as it was on the wire."""

    method: str
    path: str
    headers: tuple[str, ...]
    head_bytes: int
    body_bytes: int
    moment: float

    @property
    def shape(self):
        """Return all but when it was."""
        return self.method, self.path, self.headers, self.head_bytes, self.body_bytes


def parse(data):
    """Take one complete request off the bytes of a connection, or return None."""
    head, end, rest = bytes(data).partition(b"\r\n\r\n")
    lines = head.decode("latin1").split("\r\n")
    fields = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines[1:])}
    size = int(fields.get("content-length", 0))
    if not end or len(rest) < size:
        return None
    del data[: len(head) + len(end) + size]
    method, path, _ = lines[0].split(" ")
    return Sent(method, path, tuple(sorted(fields)), len(head), size, time.perf_counter())


class Wire(socketserver.ThreadingTCPServer):
    """Passes connections on to a collector, and keeps what requests look like."""

    allow_reuse_address = daemon_threads = True

    def __init__(self, port):
        super().__init__(("127.0.0.1", 0), Connection)
        self.target, self.sent = port, []
        self.url = f"http://127.0.0.1:{self.server_address[1]}"


class Connection(socketserver.BaseRequestHandler):
    def handle(self):
        data = bytearray()
        with socket.create_connection(("127.0.0.1", self.server.target)) as up:
            threading.Thread(target=pump, args=(up, self.request), daemon=True).start()
            try:
                while piece := self.request.recv(65536):
                    data += piece
                    while request := parse(data):
                        self.server.sent.append(request)
                    up.sendall(piece)
            except OSError:
                pass


@contextmanager
def recorded(port):
    """A way to a collector on which every request is kept."""
    with Wire(port) as wire:
        threading.Thread(target=wire.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        yield wire
        wire.shutdown()


SETTLE = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 30))))"
PAUSE = "new Promise((done) => setTimeout(done, 60))"  # a frame that is out of view is not drawn


class Watcher:
    """One visit to the host: what it sees after every step, and what the collector receives meanwhile."""

    def __init__(self, open_page, wire):
        self.wire, self.steps, self.lines, self.start = wire, [], [], len(wire.sent)
        self.page = open_page()

    @property
    def frame(self):
        return self.page.frames[1]

    def step(self, name):
        """Look, once nothing moves any more."""
        before = None
        for _ in range(100):
            self.frame.evaluate(PAUSE)
            self.page.evaluate(SETTLE)
            after = self.page.evaluate("look()")
            if after == before:
                break
            before = after
        self.steps.append((name, after, self.requests()))

    def requests(self):
        """Return what requests were like since the last step; those of one step may come in any order."""
        sent, self.start = self.wire.sent[self.start :], len(self.wire.sent)
        return sorted(request.shape for request in sent)

    def reload(self):
        """Visit the host again."""
        self.lines += [*self.page.evaluate("watched()"), '["reload"]']
        self.page.reload()

    def told(self):
        """Return all that was seen: what happened, by its kind, and the state after every step."""
        lines = [*self.lines, *self.page.evaluate("watched()")]
        kinds = {line.split('"')[1] for line in lines}
        told = {kind: [line for line in lines if line.startswith(f'["{kind}"')] for kind in kinds}
        return {**told, "entry": sorted(told["entry"]), "steps": self.steps}  # a browser adds entries in any order


def differences(one, other):
    """Say in what two visits differed for the host or the collector."""
    kinds = sorted((one.keys() | other.keys()) - {"steps"})
    differences = [(kind, one.get(kind), other.get(kind)) for kind in kinds if one.get(kind) != other.get(kind)]
    pairs = zip(one["steps"], other["steps"], strict=True)
    return differences + [_step_differences(*pair) for pair in pairs if pair[0] != pair[1]]


def _step_differences(one, other):
    """Return the names of two steps, their states where these differ, and the requests that only one of them had."""
    states = (one[1], other[1]) if one[1] != other[1] else ()
    requests = Counter(one[2]), Counter(other[2])
    return one[0], other[0], states, list(requests[0] - requests[1]), list(requests[1] - requests[0])
