"""The driver's door for ledgers far away: workers of a cluster knock, the desk answers."""

from __future__ import annotations

import secrets
import socket
import threading
from contextlib import suppress
from multiprocessing import AuthenticationError
from multiprocessing.connection import Listener
from typing import Final

from screentest.core import LedgerClient
from screentest.run._ray_worker import Door
from screentest.run.channel import LedgerDesk

_WAITING: Final = 1024  # workers may all knock at the same moment


class Porter:
    """Lets in who knows the key, and nobody else."""

    def __init__(self, ledger: LedgerClient, host: str) -> None:
        self._desk = LedgerDesk(ledger)
        key = secrets.token_bytes(32)
        self._listener = Listener((host, 0), backlog=_WAITING, authkey=key)
        port: int = self._listener.address[1]
        self.door = Door(host, port, key)
        self._open = True
        self._thread = threading.Thread(target=self._stand, name="screentest-door", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Answer what was asked, then no more."""
        self._open = False
        with suppress(OSError), socket.create_connection((self.door.host, self.door.port)):
            pass  # closing alone does not wake who waits for a knock
        self._thread.join()
        self._listener.close()
        self._desk.close()

    def _stand(self) -> None:
        while self._open:
            # A worker may be killed while it knocks, and a stranger does not know the key.
            with suppress(AuthenticationError, EOFError, OSError):
                self._desk.attend(self._listener.accept())
