"""A server of its own at another port of the loopback: a page of another origin, or a member elsewhere."""

import contextlib
import http.server
import threading

PAGE = b"<!doctype html><link rel=icon href=data:,><title>Elsewhere</title>"


@contextlib.contextmanager
def elsewhere(content=PAGE, kind="text/html"):
    """The address of a server that answers with this at every path, for as long as the block lasts."""

    class Page(http.server.BaseHTTPRequestHandler):
        """What somebody else serves."""

        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_):
            """Says nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()
