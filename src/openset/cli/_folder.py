"""Commands that lie in files of their own and are imported when they are called.

`openset --help` only reads the first line of each file, so that it does not wait for what the commands import.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pkgutil import ModuleInfo, get_data, iter_modules
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup


def commands_of(package: str) -> type[TyperGroup]:
    """A group of the commands in a package: every file that has no underscore in front, by its name."""
    return type("CommandFolder", (_CommandFolder,), {"package": package})


class _CommandFolder(TyperGroup):
    package: str

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands: Any = _Commands(self.package)
        self._only_named = False

    def list_commands(self, ctx: Any) -> list[str]:
        return list(self.commands)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if self._only_named and cmd_name in self.commands:
            return TyperCommand(cmd_name, help=self.commands.summary(cmd_name))
        return self.commands.get(cmd_name)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        with self._naming():
            super().format_help(ctx, formatter)

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        with self._naming():
            return super().shell_complete(ctx, incomplete)

    @contextmanager
    def _naming(self) -> Iterator[None]:
        """While commands are listed, their names and summaries are enough."""
        self._only_named = True
        try:
            yield
        finally:
            self._only_named = False


class _Commands(Mapping[str, Any]):
    """The commands of a package by name; one is imported when it is asked for."""

    def __init__(self, package: str) -> None:
        self._package = package
        self._files: dict[str, ModuleInfo] = {
            found.name: found
            for found in sorted(iter_modules(import_module(package).__path__), key=lambda found: found.name)
            if not found.name.startswith("_")
        }

    def __getitem__(self, name: str) -> Any:
        if name not in self._files:
            raise KeyError(name)
        file = import_module(f"{self._package}.{name}")
        if hasattr(file, "app"):  # a group of commands; else `command`, a function
            group = typer.main.get_group(file.app)
            group.name = name
            return group
        single = typer.Typer(add_completion=False, rich_markup_mode="rich", pretty_exceptions_enable=False)
        single.command(name, epilog=getattr(file, "EXAMPLE", None) and f"Example: {file.EXAMPLE}")(file.command)
        return typer.main.get_command(single)

    def __contains__(self, name: object) -> bool:
        return name in self._files  # without importing it

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)

    def summary(self, name: str) -> str:
        """What follows the name in the first line of the command's file."""
        place = f"{name}/__init__.py" if self._files[name].ispkg else f"{name}.py"
        first = (get_data(self._package, place) or b"").decode("utf-8").splitlines()[0]
        cause = first.strip('"').partition("`: ")[2]
        return cause[:1].upper() + cause[1:]
