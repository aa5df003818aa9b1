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
        answer_cuts: the same for bytes from the server.
        refuses: the status with which it refuses every tunnel, such as "403 Forbidden"; "" for none.
        address: of this machine, that its tunnels come from; "" for any.
    """

    def __init__(
        self,
        cuts: Iterable[int | None] = (),
        answer_cuts: Iterable[int | None] = (),
        *,
        refuses: str = "",
        address: str = "",
    ) -> None:
        self.tunnels: list[str] = []
        # Bytes from the client, and from the server, of all tunnels.
        self.passed = [0, 0]
        self._cuts, self._answer_cuts = iter(cuts), iter(answer_cuts)
        self._refuses = refuses
        self._source = (address, 0) if address else None
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
                cuts = next(self._cuts, None), next(self._answer_cuts, None)
            if self._refuses:
                client.sendall(f"HTTP/1.1 {self._refuses}\r\n\r\n".encode())
                return
            host, port = target.rsplit(":", 1)
            with suppress(OSError), socket.create_connection((host, int(port)), source_address=self._source) as server:
                client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
                self._pump((client, server), list(cuts))

    def _pump(self, ends: tuple[socket.socket, socket.socket], left: list[int | None]) -> None:
        """Forwards until either end closes, or has sent as much as it may."""
        while True:
            ready, _, _ = select.select(ends, [], [])
            for source in ready:
                way = ends.index(source)
                data, most = source.recv(1 << 16), left[way]
                if not data:
                    return
                if most is not None and len(data) > most:
                    ends[1 - way].sendall(data[:most])
                    return
                left[way] = None if most is None else most - len(data)
                self.passed[way] += len(data)
                ends[1 - way].sendall(data)


@contextmanager
def connect_proxy(
    cuts: Iterable[int | None] = (),
    answer_cuts: Iterable[int | None] = (),
    *,
    refuses: str = "",
    address: str = "",
) -> Iterator[ConnectProxy]:
    """A proxy that runs as long as the block."""
    proxy = ConnectProxy(cuts, answer_cuts, refuses=refuses, address=address)
    thread = threading.Thread(target=proxy.serve, daemon=True)
    thread.start()
    try:
        yield proxy
    finally:
        proxy.close()
        thread.join(10)
