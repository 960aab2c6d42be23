"""A worker that goes wrong in the way its first argument names. Standard library only.

Each way is a function that gets the request and may say anything; None means that the ordinary
answer follows. ``greet_`` ways go wrong before that.
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

GREETING = {
    "screentest": 1,
    "name": "misbehaving",
    "version": "1",
    "weights": "none",
    "roles": ["technical"],
}


def raw(text):
    sys.stdout.write(text)
    sys.stdout.flush()


def say(message):
    raw(json.dumps(message) + "\n")


def forever():
    while True:
        time.sleep(3600)


def sleeping_child(note):
    """A process that would outlive us if only we were killed."""
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"])
    Path(note).write_text(str(child.pid))


BEFORE_GREETING = {
    "greet_never": lambda _: forever(),
    "greet_and_die": lambda _: sys.exit(3),
    "greet_with_traceback": lambda _: {}["no such weights"],
    "greet_garbage": lambda _: raw("{this is no JSON}\n"),
    "greet_as_other": lambda _: say({"hello": "world"}),
    "greet_in_future": lambda _: say(GREETING | {"screentest": 99}),
    "greet_incomplete": lambda _: say({"screentest": 1, "name": "x"}),
    "greet_wrong_types": lambda _: say(GREETING | {"roles": "technical"}),
    "greet_missing": lambda _: say(
        {"screentest": 1, "error": {"reason": "missing_model", "message": "no weights at w.pth"}}
    ),
    "greet_with_list": lambda _: say({"screentest": 1, "error": {"reason": ["missing_model"]}}),
    "greet_late": lambda _: time.sleep(1.0),
    "greet_after_chatter": lambda _: raw("Loading checkpoint shards: 100%\nwarning: [x]\n"),
    "greet_after_flood": lambda _: [raw("x" * 1000 + "\n") for _ in range(3000)],
    "greet_changing": lambda note: GREETING.update(version=_count(note)),
}


def _count(note):
    seen = int(Path(note).read_text()) if Path(note).exists() else 0
    Path(note).write_text(str(seen + 1))
    return str(seen)


def crash_once(request, note):
    if not Path(note).exists():
        Path(note).write_text("crashed")
        os.kill(os.getpid(), signal.SIGKILL)


def answer(request, result):
    say({"id": request["id"], "result": result})
    return True


def terabytes(request):
    """An array whose header says 1 TB."""
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (274877906944,), }"
    header += b" " * (117 - len(header)) + b"\n"
    whole = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header
    Path(request["folder"], "a.npy").write_bytes(whole)
    return answer(request, {"npy": "a.npy"})


def in_pieces(request, note):
    for letter in json.dumps({"id": request["id"], "result": 0.25}) + "\n":
        raw(letter)
    return True


ON_REQUEST = {
    "hang": lambda request, note: forever(),
    "hang_with_child": lambda request, note: (sleeping_child(note), forever()),
    "deaf": lambda request, note: None,  # see main: it does not even read
    "crash": lambda request, note: os.kill(os.getpid(), signal.SIGSEGV),
    "exit": lambda request, note: sys.exit("out of memory"),
    "crash_once": crash_once,
    "garbage": lambda request, note: raw("{'id': 1, 'result': 0.5}\n") or True,
    "not_utf8": lambda request, note: (
        sys.stdout.buffer.write(b'{"id": "\xff"}\n') and (sys.stdout.flush() or True)
    ),
    "wrong_id": lambda request, note: say({"id": request["id"] + 7, "result": 0.5}) or True,
    "old_id": lambda request, note: say({"id": 0, "result": 0.5}) or True,
    "no_id": lambda request, note: say({"result": 0.5}) or True,
    "true_id": lambda request, note: say({"id": True, "result": 0.5}) or True,
    "both": lambda request, note: (
        say({"id": request["id"], "result": 0.5, "error": {"message": "x"}}) or True
    ),
    "neither": lambda request, note: say({"id": request["id"]}) or True,
    "huge_line": lambda request, note: raw("{" + "x" * (3 << 20)) or forever(),
    "half_line": lambda request, note: raw('{"id": 1, "resu') or forever(),
    "half_line_and_die": lambda request, note: raw('{"id": 1, "resu') or os._exit(0),
    "dead_with_child": lambda request, note: sleeping_child(note) or os._exit(5),
    "key_twice": lambda request, note: (
        raw(f'{{"id": {request["id"]}, "result": 0.1, "result": 0.9}}\n') or True
    ),
    "digits": lambda request, note: answer(request, 10**400),
    "nested": lambda request, note: (
        raw(f'{{"id": {request["id"]}, "result": {"[" * 900 + "]" * 900}}}\n') or True
    ),
    "says_list": lambda request, note: (
        say({"id": request["id"], "error": {"reason": [], "message": "no"}}) or True
    ),
    "terabytes": lambda request, note: terabytes(request),
    "circle": lambda request, note: (
        Path(request["folder"], "a.npy").symlink_to("a.npy") or answer(request, {"npy": "a.npy"})
    ),
    "in_pieces": in_pieces,
    "chatter": lambda request, note: raw("step 1\n\n[0.1, 0.2]\n  done\r\n"),
    "flood": lambda request, note: [raw("x" * 1000 + "\n") for _ in range(5000)] and None,
    "errors": lambda request, note: (
        [sys.stderr.write("e" * 1000 + "\n") for _ in range(5000)] and None
    ),
    "twice": lambda request, note: answer(request, 0.5) and answer(request, 0.5),
    "chatty": lambda request, note: [say({"id": n, "result": 1}) for n in range(500)] and True,
    "closes_output": lambda request, note: os.close(1) or forever(),
    "says_no": lambda request, note: (
        say({"id": request["id"], "error": {"reason": "not_applicable", "message": "too short"}})
        or True
    ),
    "says_odd": lambda request, note: (
        say({"id": request["id"], "error": {"reason": "bad mood", "message": "no"}}) or True
    ),
    "says_text": lambda request, note: say({"id": request["id"], "error": "just no"}) or True,
    "nan": lambda request, note: say({"id": request["id"], "result": float("nan")}) or True,
    "text": lambda request, note: answer(request, "0.5"),
    "true": lambda request, note: answer(request, True),
    "above": lambda request, note: answer(request, 1.5),
    "null": lambda request, note: answer(request, None),
    "elsewhere": lambda request, note: answer(request, {"npy": "/etc/hostname"}),
    "upwards": lambda request, note: answer(request, {"npy": "../../x.npy"}),
    "absent": lambda request, note: answer(request, {"npy": "absent.npy"}),
    "no_array": lambda request, note: (
        Path(request["folder"], "a.npy").write_text("no array")
        and answer(request, {"npy": "a.npy"})
    ),
}


def main():
    way = sys.argv[1]
    note = sys.argv[2] if len(sys.argv) > 2 else ""
    retire_after = int(way.removeprefix("retire_after_")) if way.startswith("retire") else 0
    BEFORE_GREETING.get(way, lambda _: None)(note)
    say(GREETING)
    if way == "deaf":
        forever()
    for answered, line in enumerate(sys.stdin, start=1):
        request = json.loads(line)
        if not ON_REQUEST.get(way, lambda request, note: None)(request, note):
            answer(request, 0.5)
        if answered == retire_after:
            return


if __name__ == "__main__":
    main()
