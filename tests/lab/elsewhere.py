"""A page of another origin: a server of its own at another port of the loopback."""

import contextlib
import http.server
import threading


class Page(http.server.BaseHTTPRequestHandler):
    """A page of somebody else."""

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><link rel=icon href=data:,><title>Elsewhere</title>")

    def log_message(self, *_):
        """Says nothing."""


@contextlib.contextmanager
def elsewhere():
    """The address of such a page, for as long as the block lasts."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()
