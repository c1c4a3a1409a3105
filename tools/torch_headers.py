#!/usr/bin/env python3
"""Extracts from a wheel of PyTorch the files for compiling an extension.

    tools/torch_headers.py WHEEL FOLDER

Writes FOLDER/torch/include and the libraries of torch/lib that an extension links with: some
hundred megabytes of gigabytes.
"""
import re
import sys
import zipfile

_WANTED = re.compile(r"torch/(include/.*|lib/lib(torch_cpu|c10)\.so)")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    wheel, folder = sys.argv[1:]
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if _WANTED.fullmatch(name)]
        if not names:
            sys.exit(f"{wheel} is no wheel of PyTorch: it has no torch/include")
        archive.extractall(folder, names)


if __name__ == "__main__":
    main()
