"""Compares the cells of a Parquet file with those of a CSV file, which must be the same."""

import csv
import sys

import pyarrow
import pyarrow.parquet

KINDS = {
    "int64": int,
    "double": float,
    "bool": {"true": True, "false": False}.__getitem__,
    "string": str,
}


def main(parquet: str, text: str) -> None:
    table = pyarrow.parquet.read_table(parquet)
    with open(text, newline="", encoding="utf-8") as file:
        names, *rows = csv.reader(file)
    assert table.column_names == names, (table.column_names, names)
    assert table.num_rows == len(rows) > 0, (table.num_rows, len(rows))
    used = set()
    for place, name in enumerate(names):
        kind = str(table.schema.field(name).type)
        used.add(kind)
        cells = table.column(name).to_pylist()
        for number, (cell, row) in enumerate(zip(cells, rows)):
            told = KINDS[kind](row[place]) if row[place] else None
            assert cell == told, (name, number, cell, row[place])
    assert used == set(KINDS), f"no column has this type: {set(KINDS) - used}"
    cells = table.num_rows * table.num_columns
    print(f"pyarrow {pyarrow.__version__} reads {cells} cells from Parquet, all as in the CSV file")


if __name__ == "__main__":
    main(*sys.argv[1:])
