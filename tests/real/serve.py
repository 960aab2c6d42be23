"""Serve a GGUF file as an OpenAI-compatible endpoint: ``python serve.py FILE THREADS``.

Runs with xllamacpp alone, in an environment of its own. Prints the address, then serves until its
input ends: whoever started it need not kill it.
"""

from __future__ import annotations

import sys
from pathlib import Path

import xllamacpp

CONTEXT = 8192


def main() -> None:
    settings = xllamacpp.CommonParams()
    settings.model.path = sys.argv[1]
    settings.model_alias = {Path(sys.argv[1]).name}  # else it answers under its place on the disk
    settings.hostnames = ["127.0.0.1"]
    settings.port = 0
    settings.n_ctx = CONTEXT
    settings.n_parallel = 1
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = int(sys.argv[2])
    settings.warmup = False
    settings.verbosity = 0
    server = xllamacpp.Server(settings)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    main()
