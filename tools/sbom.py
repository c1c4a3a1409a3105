#!/usr/bin/env python3
"""Writes the list of contents of a release (SBOM) in the form of CycloneDX 1.6: sbom.py FOLDER OUTPUT.

FOLDER has the wheels, packages and sources of a release. The list names each of these files with its hash, the
components of tools/notice.py with the versions of this system, and the libraries that auditwheel has put into the
wheels, from the list that auditwheel leaves there. It needs cyclonedx-python-lib, from the environment `release`.
"""
import datetime
import hashlib
import json
import pathlib
import subprocess
import sys
import uuid
import zipfile

import notice
import version
from cyclonedx.model import ExternalReference, ExternalReferenceType, HashAlgorithm, HashType, Property, XsUri
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.model.license import LicenseExpression
from cyclonedx.output.json import JsonV1Dot6
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packageurl import PackageURL

ARTIFACTS = (".whl", ".deb", ".tar.gz")


def version_of(package):
    """Returns the version of a Debian package of this system. Exits if it is missing."""
    found = subprocess.run(["dpkg-query", "-W", "-f=${Version}", package], capture_output=True, text=True)
    return found.stdout or sys.exit(f"sbom.py: {package} is not installed: ./ringlet.sh build installs it")


def part(one):
    number = version_of(one.package)
    return Component(
        name=one.name, version=number, type=ComponentType.LIBRARY, licenses=[LicenseExpression(one.license)],
        purl=PackageURL("deb", "debian", one.package, number), bom_ref=f"deb:{one.package}",
        properties=[Property(name="ringlet:contained-as", value=one.form)],
        external_references=[ExternalReference(type=ExternalReferenceType.WEBSITE, url=XsUri(one.url))])


def libraries(wheel):
    """Yields the libraries that auditwheel has put into a wheel."""
    with zipfile.ZipFile(wheel) as opened:
        for name in opened.namelist():
            if ".dist-info/sboms/" not in name or not name.endswith(".json"):
                continue
            for each in json.loads(opened.read(name)).get("components", []):
                yield Component(
                    name=each["name"], version=each.get("version"), type=ComponentType.LIBRARY,
                    purl=PackageURL.from_string(each["purl"]) if "purl" in each else None,
                    bom_ref=f"{wheel.name}:{each.get('bom-ref', each['name'])}",
                    properties=[Property(name="ringlet:contained-in", value=wheel.name)])


def artifact(path):
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return Component(name=path.name, type=ComponentType.FILE, bom_ref=f"file:{path.name}",
                     hashes=[HashType(alg=HashAlgorithm.SHA_256, content=digest)])


def bom(folder):
    number = version.version(version.ROOT)
    product = Component(name="ringlet", version=number, type=ComponentType.LIBRARY, bom_ref="ringlet",
                        licenses=[LicenseExpression("Apache-2.0")], purl=PackageURL("pypi", None, "ringlet", number))
    files = [path for path in sorted(folder.iterdir()) if path.name.endswith(ARTIFACTS)]
    made = Bom(serial_number=uuid.uuid5(uuid.NAMESPACE_URL, f"ringlet {number} {[p.name for p in files]}"))
    made.metadata.component = product
    date = subprocess.run(["git", "-C", str(version.ROOT), "log", "-1", "--format=%cI"], capture_output=True, text=True)
    if date.stdout:
        made.metadata.timestamp = datetime.datetime.fromisoformat(date.stdout.strip())
    parts = [part(one) for one in notice.COMPONENTS]
    grafted = [one for path in files if path.suffix == ".whl" for one in libraries(path)]
    for one in (*parts, *grafted, *map(artifact, files)):
        made.components.add(one)
    made.register_dependency(product, parts)
    return made


def main(folder, output):
    text = JsonV1Dot6(bom(pathlib.Path(folder))).output_as_string(indent=2)
    wrong = JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)
    if wrong:
        sys.exit(f"sbom.py: the list does not fit the schema of CycloneDX: {wrong}")
    pathlib.Path(output).write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: tools/sbom.py FOLDER OUTPUT")
    main(*sys.argv[1:])
