"""An HTTP CONNECT proxy that can cut a tunnel after any number of bytes: a hospital's way out on a bad day."""

from __future__ import annotations

import select
import socket
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress


class ConnectProxy:
    """A running proxy.

    Args:
        cuts: for each tunnel in turn, after how many bytes from the client it is cut; None or nothing more: never.
        refuses: whether it refuses every tunnel.
    """

    def __init__(self, cuts: Iterable[int | None] = (), *, refuses: bool = False) -> None:
        self.tunnels: list[str] = []
        self._cuts = iter(cuts)
        self._refuses = refuses
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def serve(self) -> None:
        """Forward connections until it is closed."""
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            thread = threading.Thread(target=self._tunnel, args=(client,), daemon=True)
            thread.start()

    def close(self) -> None:
        """Stop, and cut what is open."""
        # Closing alone does not wake up who waits in accept().
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _tunnel(self, client: socket.socket) -> None:
        with client:
            head = b""
            while b"\r\n\r\n" not in head:
                data = client.recv(4096)
                if not data:
                    return
                head += data
            target = head.split()[1].decode()
            with self._lock:
                self.tunnels.append(target)
                cut = next(self._cuts, None)
            if self._refuses:
                client.sendall(b"HTTP/1.1 403 Forbidden\r\n\r\n")
                return
            host, port = target.rsplit(":", 1)
            with suppress(OSError), socket.create_connection((host, int(port))) as server:
                client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
                _pump(client, server, cut)


def _pump(client: socket.socket, server: socket.socket, cut: int | None) -> None:
    sent = 0
    while True:
        ready, _, _ = select.select([client, server], [], [])
        for source in ready:
            data = source.recv(1 << 16)
            if not data:
                return
            if source is server:
                client.sendall(data)
                continue
            if cut is not None and sent + len(data) > cut:
                server.sendall(data[: cut - sent])
                return
            sent += len(data)
            server.sendall(data)


@contextmanager
def connect_proxy(cuts: Iterable[int | None] = (), *, refuses: bool = False) -> Iterator[ConnectProxy]:
    """A proxy that runs as long as the block."""
    proxy = ConnectProxy(cuts, refuses=refuses)
    thread = threading.Thread(target=proxy.serve, daemon=True)
    thread.start()
    try:
        yield proxy
    finally:
        proxy.close()
        thread.join(10)
