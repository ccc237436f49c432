"""Executes the notebooks beside this file, each in a kernel of its own and all at once; fails if one
does, or if a committed one has outputs. With `--keep DIR` the executed ones are written there."""

import argparse
import pathlib
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError


def execute(file, keep):
    """Executes a notebook: a line about it, and whether all went well."""
    notebook = nbformat.read(file, as_version=4)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    if any(cell.outputs or cell.execution_count for cell in cells):
        return f"{file.name} has outputs: clear them before it is committed", False
    began = time.monotonic()
    try:
        # All at once, and on a busy machine: each has much time.
        NotebookClient(notebook, timeout=600, startup_timeout=300, kernel_name="python3").execute()
    except CellExecutionError as error:
        return f"{file.name}: {error}", False
    if keep:
        keep.mkdir(parents=True, exist_ok=True)
        nbformat.write(notebook, keep / file.name)
    return f"{file.name}: {len(cells)} cells, {time.monotonic() - began:.1f} s", True


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keep", type=pathlib.Path, metavar="DIR")
    keep = parser.parse_args().keep
    files = sorted(pathlib.Path(__file__).parent.glob("*.ipynb"))
    with ThreadPoolExecutor() as threads:
        done = list(threads.map(lambda file: execute(file, keep), files))
    for line, _ in done:
        print(line, flush=True)
    if not done or not all(well for _, well in done):
        sys.exit("there is no notebook" if not done else 1)


if __name__ == "__main__":
    main()
