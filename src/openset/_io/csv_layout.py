"""How a CSV file is laid out, as spreadsheets write it: what separates columns, what ends lines, where rows begin."""

import csv
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class CsvLayout:
    """What must be known of a CSV file before its rows can be read."""

    file: Path
    separator: str
    """Comma, semicolon or tab."""
    line_end: str
    """Line feed, or the carriage return of old programs."""
    n_skipped: int
    """Lines above the column names."""

    @property
    def has_decimal_commas(self) -> bool:
        """Whether a comma can be a decimal one: where it separates columns, a quoted one separates thousands."""
        return self.separator != ","

    def line(self, row: int) -> int:
        """The line, as an editor counts, on which a row begins; read again for it, as only errors ask."""
        with self.file.open(encoding="utf-8-sig") as stream:
            for _ in range(self.n_skipped):
                stream.readline()
            reader = csv.reader(stream, delimiter=self.separator)
            begin, before = self.n_skipped + 1, -1  # rows before this one; the column names come first
            try:
                for cells in reader:
                    if before == row:
                        break
                    if cells or before >= 0:  # empty lines above the names are no rows
                        before += 1
                    begin = self.n_skipped + reader.line_num + 1
            except csv.Error:  # a cell longer than the reader takes
                return row + self.n_skipped + 2
        return begin


def csv_layout(file: Path) -> CsvLayout:
    """The layout of a file in UTF-8, with or without a byte order mark."""
    with file.open(encoding="utf-8-sig") as stream:
        header = stream.readline()
        marked = header.lower().startswith("sep=")  # a line by which Excel tells the separator
        if marked:
            header = stream.readline()
        line_end = "\r" if stream.newlines == "\r" else "\n"
    separator = "\t" if file.suffix.lower() == ".tsv" else max(",;\t", key=header.count)
    return CsvLayout(file, separator, line_end, int(marked))
