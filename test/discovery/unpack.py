#!/usr/bin/env python3
"""Unpacks the captured machines of FIXTURES into FOLDER, one folder per tarball.

    unpack.py FIXTURES FOLDER
"""
import hashlib
import pathlib
import shutil
import sys
import tarfile


def unpack(archive, target):
    """Drops the archive's top folder. Takes files, folders and links: a /sys has no others."""
    with tarfile.open(archive) as tar:
        for member in tar:
            parts = pathlib.PurePosixPath(member.name).parts[1:]
            if ".." in parts:
                raise SystemExit(f"{archive}: {member.name} leads out of the archive")
            path = target.joinpath(*parts)
            if member.isdir():
                path.mkdir(parents=True, exist_ok=True)
            elif member.issym():
                path.parent.mkdir(parents=True, exist_ok=True)
                path.symlink_to(member.linkname)
            elif member.isfile():
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(tar.extractfile(member).read())
            else:
                raise SystemExit(f"{archive}: {member.name} is no file, folder or link")


def main():
    fixtures, folder = map(pathlib.Path, sys.argv[1:])
    archives = sorted(fixtures.glob("*.tar*"))
    # Some file systems take a minute over 23,000 files, so unpack only after a change.
    digest = hashlib.sha256(pathlib.Path(__file__).read_bytes())
    for archive in archives:
        digest.update(archive.name.encode() + archive.read_bytes())
    done = folder / "done"
    if not (done.exists() and done.read_text() == digest.hexdigest()):
        shutil.rmtree(folder, ignore_errors=True)
        for archive in archives:
            unpack(archive, folder / archive.name[:archive.name.index(".tar")])
        done.write_text(digest.hexdigest())
    print(f"{len(archives)} machines")
    return 0 if archives else 1


if __name__ == "__main__":
    sys.exit(main())
