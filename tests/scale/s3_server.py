"""As much of S3 as reading needs: objects by range, their size and time, and lists of them; files of a folder."""

import hashlib
import threading
from contextlib import contextmanager
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape


def _handler(root, asked):
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):
            """Nothing is printed."""

        def answer(self, status, body=b"", headers=(), *, head=False, length=None):
            self.send_response(status)
            self.send_header("Content-Length", str(len(body) if length is None else length))
            for name, value in headers:
                self.send_header(name, value)
            self.end_headers()
            if not head:
                self.wfile.write(body)

        def missing(self, *, head):
            self.answer(
                404, b"" if head else b"<Error><Code>NoSuchKey</Code><Message>gone</Message></Error>", head=head
            )

        def do_HEAD(self):
            self.object(head=True)

        def do_GET(self):
            parts = urlsplit(self.path)
            if "list-type" in parts.query:
                self.listing(unquote(parts.path).strip("/"), parse_qs(parts.query))
            else:
                self.object(head=False)

        def object(self, *, head):
            path = unquote(urlsplit(self.path).path).strip("/")
            asked.append((self.command, path, self.headers.get("Range")))
            file = root / path
            if file.is_dir() and "/" not in path:
                self.answer(200, head=head)
                return
            if not file.is_file():
                self.missing(head=head)
                return
            content = file.read_bytes()
            metadata = [
                ("ETag", f'"{hashlib.md5(content, usedforsecurity=False).hexdigest()}"'),
                ("Last-Modified", formatdate(file.stat().st_mtime, usegmt=True)),
                ("Content-Type", "application/octet-stream"),
            ]
            span = self.headers.get("Range")
            if head or span is None:
                self.answer(200, content, metadata, head=head, length=len(content))
                return
            first, last = span.removeprefix("bytes=").split("-")
            start, stop = int(first), min(int(last or len(content) - 1), len(content) - 1) + 1
            metadata.append(("Content-Range", f"bytes {start}-{stop - 1}/{len(content)}"))
            self.answer(206, content[start:stop], metadata)

        def listing(self, bucket, query):
            prefix = query.get("prefix", [""])[0]
            names = sorted(
                file.relative_to(root / bucket).as_posix() for file in (root / bucket).rglob("*") if file.is_file()
            )
            found = [name for name in names if name.startswith(prefix)]
            entries = "".join(
                f"<Contents><Key>{escape(name)}</Key><Size>{(root / bucket / name).stat().st_size}</Size>"
                "<LastModified>2026-01-01T00:00:00.000Z</LastModified></Contents>"
                for name in found
            )
            metadata = f"<IsTruncated>false</IsTruncated><KeyCount>{len(found)}</KeyCount>"
            body = f"<ListBucketResult>{metadata}{entries}</ListBucketResult>"
            self.answer(200, body.encode(), [("Content-Type", "application/xml")])

    return Handler


@contextmanager
def serving(root):
    """Serve the folders in `root` as buckets; yields the address and, as it grows, what was asked for."""
    asked = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(root, asked))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        server.server_close()
