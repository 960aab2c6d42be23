"""Put every new array at a chosen place: so many bytes after a multiple of 64.

Where malloc puts an array is chance, and code that rounds by it differs by chance. NumPy lets one
say where arrays go (``PyDataMem_SetHandler``); OpenCV's results are such arrays too. So all
places can be tried, one after another, in one process.
"""

from __future__ import annotations

import ctypes
import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy._core import _multiarray_umath  # type: ignore[attr-defined]

LINE = 64
PLACES = (0, 16, 32, 48)
"""What malloc of a 64-bit system can give."""
_SET_HANDLER, _GET_HANDLER = 304, 305  # in the table of NumPy's C functions
_MMAP_THRESHOLD = -3  # of mallopt: large blocks come from the heap, not as pages of their own
_TRIES = 1000

_libc = ctypes.CDLL(None)
_libc.malloc.restype = ctypes.c_void_p
_libc.malloc.argtypes = [ctypes.c_size_t]
_libc.free.argtypes = [ctypes.c_void_p]
_place = 0
_draw = random.Random(1)


def _malloc(_: object, size: int) -> int | None:
    """Ask malloc until the place is right. What was wrong is kept meanwhile and pushes the next."""
    wrong: list[int | None] = []
    found: int | None = _libc.malloc(size)
    while found and found % LINE != _place and len(wrong) < _TRIES:
        wrong += [found, _libc.malloc(16 * _draw.randrange(1, 9))]
        found = _libc.malloc(size)
    for one in wrong:
        _libc.free(one)
    return found


def _calloc(context: object, count: int, size: int) -> int | None:
    found = _malloc(context, count * size)
    if found:
        ctypes.memset(found, 0, count * size)
    return found


_P, _N = ctypes.c_void_p, ctypes.c_size_t
_MALLOC, _CALLOC = ctypes.CFUNCTYPE(_P, _P, _N), ctypes.CFUNCTYPE(_P, _P, _N, _N)


class _Handler(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char * 127),
        ("version", ctypes.c_uint8),
        ("context", _P),
        ("malloc", _P),
        ("calloc", _P),
        ("realloc", _P),
        ("free", _P),
    ]


# Arrays keep pointing to these: they live as long as the process. NumPy's own functions change
# and free what these make, since they must still be there when Python has ended.
_handler = _Handler()
_functions = _MALLOC(_malloc), _CALLOC(_calloc)


def _numpy(place: int, *arguments: object) -> Any:
    """Call one of NumPy's C functions."""
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = _P, [ctypes.py_object, ctypes.c_char_p]
    table = pointer(_multiarray_umath._ARRAY_API, None)
    address = (_P * (place + 1)).from_address(table)[place] or 0
    types = [ctypes.py_object] * len(arguments)
    return ctypes.PYFUNCTYPE(ctypes.py_object, *types)(address)(*arguments)


def _prepare() -> Any:
    """Our handler, in the capsule that NumPy wants."""
    assert _libc.mallopt(_MMAP_THRESHOLD, 32 << 20)  # the most that glibc takes
    pointer, new = ctypes.pythonapi.PyCapsule_GetPointer, ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, [_P, ctypes.c_char_p, _P]
    usual = _Handler.from_address(pointer(_numpy(_GET_HANDLER), b"mem_handler"))
    if _handler.version == 0:
        _handler.name, _handler.version = b"placed", 1
        _handler.malloc, _handler.calloc = (ctypes.cast(one, _P) for one in _functions)
        _handler.realloc, _handler.free = usual.realloc, usual.free
    return new(ctypes.addressof(_handler), b"mem_handler", None)


@contextmanager
def arrays_at(place: int) -> Iterator[None]:
    """Meanwhile arrays that this thread makes begin ``place`` bytes after a multiple of 64."""
    global _place
    _place = place
    before = _numpy(_SET_HANDLER, _prepare())
    try:
        assert np.empty(1000).ctypes.data % LINE == place
        yield
    finally:
        _numpy(_SET_HANDLER, before)
