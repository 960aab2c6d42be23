"""The app around the commands: light to start, and it ends in a message, never a traceback."""

from __future__ import annotations

import ast
import inspect
import os
import re
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

import screentest as package
from screentest.cli import Commands, app, options
from screentest.cli.loader import COMMANDS, GROUPS, SECTIONS, read_table, suite_tables
from screentest.core import BadOption, NoValue, Reason, StorageError, registry
from tests.terminal import CLEAN, Screentest, fits

ROWS = {
    **read_table(COMMANDS),
    **{
        f"{group} {name}": row
        for group, (_, table) in GROUPS.items()
        for name, row in read_table(table).items()
    },
    **{
        f"suite {suite} {name}": row
        for suite, (_, table) in suite_tables().items()
        for name, row in read_table(table, f"screentest.suites.{suite}").items()
    },
}
EVERY = sorted(name.split() for name in ROWS)


def test_the_commands_that_everyone_uses_are_there() -> None:
    assert {"demo", "doctor", "probe", "shots", "validate", "score"} <= {one[-1] for one in EVERY}
    assert ["annotate", "serve"] in EVERY
    assert all(text for text, _ in (*GROUPS.values(), *suite_tables().values()))


def test_every_command_of_ours_is_listed_under_one_heading() -> None:
    listed = sorted(name for names in SECTIONS.values() for name in names)
    assert listed == sorted({*read_table(COMMANDS), *GROUPS})
    output = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "80"}).output
    assert [f"{title}:" for title in SECTIONS] == [
        line for line in output.splitlines() if line.rstrip(":") in SECTIONS
    ]


@pytest.mark.parametrize("command", ["score", "certify", "build"])
def test_what_few_need_stands_below_what_most_do(command: str) -> None:
    output = CliRunner().invoke(app, [command, "--help"], env={"COLUMNS": "80"}).output
    titles = ["Arguments:", "Options:", "Seldom needed:", "Models:", "Processes and machines:"]
    assert [line for line in output.splitlines() if line in titles] == titles
    most = output.partition("\nSeldom needed:")[0].partition("\nOptions:")[2]
    assert len(re.findall(r"^  --", most, re.M)) <= 14
    app_table = tomllib.loads(Path(options.__file__).with_name("options.toml").read_text())
    flags = set(re.findall(r"^  --(?:no-)?([\w-]+)", output, re.M))
    named = {name.replace("_", "-") for name in app_table[command]["seldom"]}
    renamed = {"generated": "videos", "form": "format", "severities": "severity", "only": "films"}
    assert {renamed.get(name, name) for name in named} <= flags


def test_version(screentest: Screentest) -> None:
    done = screentest("--version")
    assert (done.returncode, done.stdout) == (0, f"screentest {package.__version__}\n")


@pytest.mark.parametrize("command", [[], *EVERY], ids=" ".join)
def test_help_fits_the_screen_and_has_examples(command: list[str]) -> None:
    result = CliRunner().invoke(app, [*command, "--help"], env={"COLUMNS": "80"})

    assert result.exit_code == 0
    assert fits(result.output)
    assert f"screentest {' '.join(command)}" in result.output
    assert not [flag for flag in re.findall(r"--[\w-]+", result.output) if "_" in flag]
    if command:
        assert "\n  Examples:\n    screentest " in result.output


@pytest.mark.parametrize("name", ROWS)
def test_a_row_of_the_table_is_a_command_with_that_line_of_help(name: str) -> None:
    thing = ROWS[name].load()
    if isinstance(thing, typer.Typer):
        assert thing.registered_callback is not None
        thing = thing.registered_callback.callback
    assert thing.__doc__.partition("\n")[0] == ROWS[name].help


def test_every_module_of_commands_is_in_the_table() -> None:
    loaded = {row.load().__module__ for row in ROWS.values() if row.load().__module__ != "typer"}
    root = Path(package.__file__).parent
    for path in (*root.glob("*/*commands.py"), *root.glob("suites/*/*commands.py")):
        assert ".".join(("screentest", *path.relative_to(root).with_suffix("").parts)) in loaded


@pytest.mark.parametrize(
    "package_name", ["cli", "annotate", "suites/etva", "suites/locot2v", "suites/univ"]
)
def test_every_option_described_is_that_of_a_command(package_name: str) -> None:
    folder = Path(package.__file__).parent / package_name
    tables = tomllib.loads((folder / "options.toml").read_text("utf-8"))
    parameters: dict[str, set[str]] = {}
    for path in folder.glob("*.py"):
        for function in ast.parse(path.read_text("utf-8")).body:
            if isinstance(function, ast.FunctionDef):
                own = {argument.arg for argument in function.args.args}
                parameters.setdefault(function.name, set()).update(own)
    # Options that are those of a function of the API stand in the signature alone.
    for row in ROWS.values():
        thing = row.load()
        if getattr(thing, "__name__", "") in parameters:
            parameters[thing.__name__].update(inspect.signature(thing).parameters)
    parameters["common"] = set.union(*parameters.values())
    for command, table in tables.items():
        described = {name for name, option in table.items() if isinstance(option, dict)}
        assert described <= parameters[command], command
    if (folder / "help.toml").is_file():
        helps = tomllib.loads((folder / "help.toml").read_text("utf-8"))
        assert helps.keys() <= parameters.keys() - {"common"}


def test_commands_inside_an_app_have_the_help_of_their_options() -> None:
    output = CliRunner().invoke(app, ["models", "pull", "--help"], env={"COLUMNS": "80"}).output
    assert "-y, --yes" in output
    assert "--timeout SECONDS" in output


@pytest.mark.parametrize(
    ("wrong", "right"),
    [(["scroe"], "'score'"), (["suite", "lst"], "'list'"), (["annotate", "serv"], "'serve'")],
)
def test_a_wrong_name_suggests_near_ones(wrong: list[str], right: str) -> None:
    result = CliRunner().invoke(app, wrong)
    assert result.exit_code == 2
    assert f"Did you mean {right}" in result.stderr


def test_help_takes_a_quarter_of_a_second_of_processor_time() -> None:
    code = (
        "import os, sys; from screentest.cli import main; sys.argv = ['screentest', '--help']\n"
        "try: main()\n"
        "finally: print(sum(os.times()[:2]), file=sys.stderr)"
    )
    spent = []
    for _ in range(5):
        done = subprocess.run([sys.executable, "-c", code], env=CLEAN, capture_output=True)
        spent.append(float(done.stderr))
    assert min(spent) < 0.25


def test_the_list_of_commands_cuts_no_sentence_short() -> None:
    result = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "80"})
    assert "..." not in result.output.partition("Commands:")[2]


@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["annotate", "--help"], ["suite", "--help"], ["nonsense"], ["suite", "x"]],
)
def test_help_and_wrong_names_import_no_command(arguments: list[str]) -> None:
    """Only the command that is called is imported."""
    code = (
        "import sys\n"
        "from screentest.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print(sorted({'av', 'cv2', 'numpy', 'pyarrow', 'PIL', 'rich', 'torch'}"
        " & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env=CLEAN,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr.splitlines()[-1] == "[]"


def test_wrong_usage_ends_with_2(screentest: Screentest) -> None:
    for arguments in (["nonsense"], ["probe", "--nonsense"], ["probe"]):
        done = screentest(*arguments)
        assert done.returncode == 2
        assert "Error: " in done.stderr
        assert done.stdout == ""


# ---- what a command may raise


def raising(error: BaseException) -> typer.Typer:
    broken = typer.Typer(cls=Commands, rich_markup_mode=None, pretty_exceptions_enable=False)

    @broken.callback()
    def everywhere(debug: bool = typer.Option(False, "--debug")) -> None: ...

    @broken.command()
    def act() -> None:
        raise error

    return broken


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (BadOption("no such thing", advice="Try another."), 2, "no such thing\nTry another."),
        (StorageError("the disk is full"), 74, "the disk is full"),
        (NoValue(Reason.UNDECODABLE, "no picture"), 1, "no picture"),
        (PermissionError(13, "Permission denied", "/x"), 74, "/x: Permission denied"),
        (OSError(28, "No space left", "/from", None, "/to"), 74, "/to: No space left"),
        (BadOption("bad\x1b[2Jname"), 2, "bad\\x1b[2Jname"),
    ],
)
def test_errors_are_a_message_and_an_exit_code(error: Exception, code: int, message: str) -> None:
    result = CliRunner().invoke(raising(error), ["act"])
    assert (result.exit_code, result.stderr) == (code, f"error: {message}\n")


def test_debug_shows_the_traceback_of_any_error() -> None:
    result = CliRunner().invoke(raising(BadOption("no such thing")), ["--debug", "act"])
    assert result.exit_code == 2
    assert "Traceback" in result.stderr


@pytest.mark.parametrize(
    ("error", "first"),
    [
        (ZeroDivisionError("division by zero"), "error: ZeroDivisionError: division by zero"),
        # A worker process that meets a bug sends its traceback as the detail.
        (NoValue(Reason.CRASHED, "Traceback…\nKeyError: 'x'"), "error: KeyError: 'x'"),
    ],
)
def test_a_bug_is_reported_shortly_and_its_traceback_kept(
    error: Exception, first: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(registry, "_entries", {})  # tests that register things are plugins, too
    result = CliRunner().invoke(raising(error), ["act"])

    assert result.exit_code == 70
    assert result.stderr.splitlines()[0] == first
    assert "Traceback" not in result.stderr
    (log,) = tmp_path.iterdir()
    assert log.name in result.stderr
    assert "Traceback" in log.read_text()


def test_a_bug_where_nothing_can_be_written_is_reported_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "missing"))
    monkeypatch.setattr(registry, "_entries", {})
    result = CliRunner().invoke(raising(KeyError("x")), ["act"])
    assert result.exit_code == 70
    assert "SCREENTEST_DEBUG=1" in result.stderr


# ---- signals and pipes, with a real process

NAP = """
import sys, time
from screentest.cli import app, main
@app.command()
def nap():
    print("ready", flush=True)
    time.sleep(60)
@app.command()
def talk():
    for number in range(100000):
        print(number)
main()
"""


def test_ctrl_c_is_one_line_and_130() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", NAP, "nap"],
        env=CLEAN,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=300)
    assert (process.returncode, told) == (130, "stopped\n")


@pytest.mark.parametrize("arguments", [["talk"], ["doctor"], ["--help"]])
def test_a_reader_that_leaves_is_no_error(arguments: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            [sys.executable, "-c", NAP, *arguments],
            env=CLEAN,
            stdout=writing,
            stderr=subprocess.PIPE,
            text=True,
        )
    finally:
        os.close(writing)
    assert done.stderr == ""
    assert done.returncode in {141, 1}


def test_a_terminal_without_unicode_gets_escapes(screentest: Screentest, sample: Path) -> None:
    done = screentest(
        "probe",
        sample / "real_5shots_640x360.mp4",
        PYTHONUTF8="0",
        PYTHONIOENCODING="ascii",
    )
    assert done.returncode == 0
    assert "640\\xd7360" in done.stdout


@pytest.mark.parametrize(
    ("command", "usage", "argument"),
    [
        (("testbed", "show"), "show [OPTIONS] DIR [PAIR]", "  PAIR  "),
        (("compare",), "compare [OPTIONS] RUN…", "  RUN…  "),
        (("suite", "locot2v", "statistics"), "statistics [OPTIONS] FILE…", "  FILE…  "),
    ],
)
def test_arguments_are_shown_by_their_names(
    command: tuple[str, ...], usage: str, argument: str
) -> None:
    """Typer wrote ``{DIR} [[PAIR]]`` above, and ``RUN… <list[Path]>`` below."""
    result = CliRunner().invoke(app, [*command, "--help"], env={"COLUMNS": "80"})
    shown = result.stdout.splitlines()
    assert shown[0].endswith(usage)
    assert any(line.startswith(argument) for line in shown)
