"""Click groups whose commands end in one clear line and a documented exit code, never in a traceback.

docs/exit-codes.md lists the codes. A fault of the program itself is 1: it names the error's type only, since the text of
an unforeseen exception may hold text of a note; DEID_COMMONS_DEBUG=1 shows the traceback to whoever may see such text.

Help and small commands answer at once: at its top, the module of a command imports no more than the options of its commands
need, and what a command works with is imported in its function. `tests/test_start_up.py` holds every command to it.
"""

from __future__ import annotations

import errno
import gc
import json
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

import click

from command_line.shortage import LINE, lacks_memory
from command_line.standard_streams import ready_streams
from command_line.stopping import StoppedError, heed_stop_signals
from foundation.errors import DeidError
from foundation.os_errors import shortage
from foundation.printable import escape_lines, escape_unprintable

Sections = Sequence[tuple[str, Sequence[str]]]
"""Titles of the help of a program, and the commands below each, in the order of use."""

_STORAGE = 8
_INTERRUPTED = 130


# Whether this command has printed its result.
_said: set[bool] = set()


class Listing(click.Group):
    """A group whose help lists its commands in the order in which they are used, each by a whole sentence.

    Args:
        sections: titles, and the commands below each; none for all commands in the order in which they were added.
        given: as for `click.Group`.
    """

    def __init__(self, *given: Any, sections: Sections = (), **named: Any) -> None:
        super().__init__(*given, **named)
        self.sections = sections

    def list_commands(self, ctx: click.Context) -> list[str]:
        """As they stand in the sections; what stands in none comes last."""
        listed = [name for _, names in self.sections for name in names]
        return [*listed, *(name for name in self.commands if name not in listed)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands, section by section."""
        listed = [name for _, names in self.sections for name in names]
        rest = tuple(name for name in self.list_commands(ctx) if name not in listed)
        # All sections have one column, or the eye finds no command.
        width = max(map(len, self.commands), default=0)
        for title, names in (*self.sections, ("Commands", rest)):
            if names:
                with formatter.section(title):
                    formatter.write_dl([(name.ljust(width), _first_sentence(self.commands[name])) for name in names])


class Program(Listing):
    """A group that turns every known error into one line on standard error and its exit code.

    With --json it is an object on standard output, too, {"error", "exit_code"}, unless the command has printed its result.
    """

    _as_json = False

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Parse, with a wrong use told in one line."""
        self._as_json = "--json" in args
        ready_streams()
        _said.clear()
        try:
            return super().make_context(info_name, args, parent, **extra)
        except click.UsageError as error:
            return self._misused(error)
        except OSError as error:
            return self._not_stored(error)

    def invoke(self, context: click.Context) -> Any:
        """Run, with every error told in one line and its exit code."""
        try:
            with heed_stop_signals():
                return super().invoke(context)
        except DeidError as error:
            return self._fail(str(error), error.exit_code, error)
        except OSError as error:
            return self._not_stored(error)
        except StoppedError as error:
            return self._fail(f"ended by {error.name}; {_what_stays(error)}", error.exit_code, error)
        except KeyboardInterrupt as error:
            return self._fail(f"interrupted; {_what_stays(error)}", _INTERRUPTED, error)
        except click.UsageError as error:
            return self._misused(error)
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except Exception as error:
            if lacks_memory(error):
                return self._fail(LINE, _STORAGE, error)
            return self._fail(
                f"a fault in this program ({type(error).__name__}); set DEID_COMMONS_DEBUG=1 to see where", 1, error
            )

    def _misused(self, error: click.UsageError) -> NoReturn:
        if isinstance(error, click.exceptions.NoArgsIsHelpError):
            raise error
        where = error.ctx.command_path if error.ctx is not None else self.name or "the program"
        self._fail(f"{error.format_message()} See `{where} --help`.", error.exit_code, error)

    def _not_stored(self, error: OSError) -> NoReturn:
        if error.errno == errno.EPIPE:
            # Whoever read our output, such as `head`, has enough of it; click ends in silence.
            raise error
        if (short := shortage(error, Path(str(error.filename or "a file")))) is not None:
            self._fail(str(short), _STORAGE, error)
        self._fail(
            f"{error.filename or 'a file'}: {error.strerror or type(error).__name__}; check the path and the free space",
            _STORAGE,
            error,
        )

    def _fail(self, message: str, code: int, error: BaseException) -> NoReturn:
        if os.environ.get("DEID_COMMONS_DEBUG") == "1":
            raise error
        line = escape_unprintable(" ".join(message.split()))
        # Where nothing more can be told, as on a full disk, the code still tells.
        with suppress(OSError):
            click.echo("error: " + line, err=True)
        if self._as_json and not _said:
            # What was done before it failed has been told already, and one object is all that a program reads.
            with suppress(OSError):
                click.echo(_on_one_line({"error": line, "exit_code": code}))
        sys.exit(code)


def _first_sentence(command: click.Command) -> str:
    """What a command does, whole; what follows a semicolon or a colon is for its own help to say."""
    words = " ".join((command.help or "").split("\n\n", maxsplit=1)[0].split())
    for end in (". ", "; ", ": "):
        words = words.partition(end)[0]
    return words.removesuffix(".") + "."


def _what_stays(error: BaseException) -> str:
    """What a command that was cut leaves; a note on the error says what is kept to go on with."""
    return "; ".join(["nothing half-written was kept", *getattr(error, "__notes__", ())])


class Computation(click.Command):
    """A command that trains, attacks, encodes or de-identifies: the only ones that load torch."""

    def invoke(self, context: click.Context) -> Any:
        """Run, with every error told in one line and its exit code."""
        compute_on_one_thread()
        return super().invoke(context)


def compute_on_one_thread() -> None:
    """For the thread that calls it, and loads torch; two threads that share a busy core run several times slower than one."""
    if "torch" not in sys.modules:
        _load_torch()
    import torch

    torch.set_num_threads(1)


def _load_torch() -> None:
    """Loads it unwatched by the garbage collector: half a million objects that stay are looked through while they come, and again when a command ends."""
    gc.disable()
    try:
        import torch  # noqa: F401
    finally:
        gc.freeze()
        gc.enable()


def examples(*lines: str) -> str:
    """The block of examples that ends a command's help."""
    return "\b\nExample:\n" + "\n".join(f"  {line}" for line in lines)


json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print a machine-readable result on standard output."
)

passphrase_option = click.option(
    "--passphrase",
    "protect",
    is_flag=True,
    help="Put the private keys under a passphrase: it is asked for, or stands in the file that DEID_COMMONS_PASSPHRASE_FILE names.",
)


def seed_option(what: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The --seed of a command; `what` says what it decides."""
    return click.option(
        "--seed", default=0, show_default=True, type=click.IntRange(0, 2**31 - 1), help=f"Seed of {what}."
    )


def warn(line: str) -> None:
    """A line for people that is no result, on standard error."""
    say(f"warning: {line}", err=True)


def say(text: str, *, err: bool = False) -> None:
    """Print lines for people: what files, notes and releases bring along commands no terminal."""
    click.echo(escape_lines(text), err=err)


def report(result: dict[str, Any], lines: list[str], *, as_json: bool) -> None:
    """Print a result: JSON where it was asked for, the lines for people elsewhere."""
    _said.add(True)
    if as_json:
        click.echo(_on_one_line(result))
    else:
        say("\n".join(lines))


def _on_one_line(result: dict[str, Any]) -> str:
    # JSON is UTF-8, whatever a terminal here is set to: where letters would become other bytes, or an escape that JSON has not, JSON's own stand.
    plain = (sys.stdout.encoding or "").lower().replace("_", "-") != "utf-8"
    return escape_unprintable(json.dumps(result, ensure_ascii=plain, sort_keys=True))
