"""What samples look like, by their ids: pictures of a folder, or texts and pictures of a table."""

from pathlib import Path
from typing import TYPE_CHECKING, Protocol, Union

from openset._io.paths import is_folder, real_path
from openset._io.pictures import BadImageError, decode
from openset._io.tables import read_table
from openset.errors import OpenSetError

if TYPE_CHECKING:
    from PIL.Image import Image

Content = Union["Image", str]


class SampleContents(Protocol):
    """Anything that knows what samples look like."""

    def find(self, name: str) -> Content | None:
        """The picture or the text of the sample of that id; None if there is none."""


class FolderContents:
    """Pictures of a folder; an id is a path below it, which may begin with the folder's own name."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = real_path(Path(folder))

    def find(self, name: str) -> "Image | None":
        """The picture, if the path stays below the folder and leads to a readable one."""
        for tried in dict.fromkeys((name, name.partition("/")[2])):
            if not tried or "\0" in tried:
                continue
            try:
                file = real_path(self.folder / tried)
                if file.is_relative_to(self.folder) and file.is_file():
                    return decode(file, tried, upright=True)
            except (BadImageError, OSError, OpenSetError):  # such as a name that is too long for any file
                continue
        return None


class TableContents:
    """A CSV, TSV or Parquet file with the column `id` and the column `text`, or `image`: a path from the file on."""

    def __init__(self, path: str | Path) -> None:
        table = read_table(path, names=("id", "text", "image"))
        column = next((name for name in ("text", "image") if name in table.columns), None)
        if column is None or "id" not in table.columns:
            raise OpenSetError(f"{path} must have the columns 'id' and 'text', or 'id' and 'image'.")
        texts = table[column].fill_null("").cast(str).to_list()
        self._found = dict(zip(table["id"].cast(str).to_list(), texts, strict=True))
        self._pictures = FolderContents(Path(path).parent) if column == "image" else None

    def find(self, name: str) -> Content | None:
        """The text, or the picture that the table names."""
        found = self._found.get(name, "")
        return (found or None) if self._pictures is None else self._pictures.find(found)


def open_contents(path: str | Path) -> SampleContents:
    """What the samples look like: a folder of pictures, or a table of texts or of pictures' names."""
    return FolderContents(path) if is_folder(path) else TableContents(path)
