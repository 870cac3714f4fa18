# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Writes sbom.cdx.json: what `make setup` installed, as a CycloneDX 1.6 bill of materials.

`make sbom` runs it. Names, versions and hashes are those of requirements/locked, of which every
package must be installed in the locked version; licences, authors and dependencies are what the
packages say of themselves. The same environment gives the same file, byte by byte. A ROS 2 that was
sourced, not installed from wheels, is not in it: its distribution keeps the list of its packages.
"""

from __future__ import annotations

import json
import platform
import re
import sys
import uuid
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent.parent
LOCKED = ROOT / "requirements" / "locked"
OUT = ROOT / "sbom.cdx.json"
USED_AT_RUN_TIME = ("run", "jazzy", "kilted")
NAMESPACE = uuid.UUID("6b1b0d6e-6f0a-4a55-9d43-0c1f3f3e8a11")  # of the serial numbers; random
# SPDX identifiers of what packages without a licence expression say.
SPDX = {
    "Apache 2.0": "Apache-2.0", "Apache License, Version 2.0": "Apache-2.0",
    "Apache License 2.0": "Apache-2.0", "BSD 3-Clause": "BSD-3-Clause", "PSF-2.0": "PSF-2.0",
    "Apache Software License": "Apache-2.0", "BSD 2-Clause License": "BSD-2-Clause",
    "BSD 3-Clause License": "BSD-3-Clause", "MIT License": "MIT", "The MIT License (MIT)": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0", "Apache-2.0": "Apache-2.0",
    "BSD-3-Clause": "BSD-3-Clause", "MIT": "MIT"}


class Pin(NamedTuple):
    """A locked package: file of requirements it is for, name, version, SHA-256 of its wheels."""

    file: str
    name: str
    version: str
    hashes: tuple[str, ...]


def read_pins() -> Iterator[Pin]:
    """The locked packages of every Python and machine."""
    for file in sorted(LOCKED.glob("*.txt")):
        text = file.read_text().replace("\\\n", " ")
        for name, version, rest in re.findall(r"^([\w-]+)==(\S+)(.*)$", text, re.M):
            yield Pin(file.stem, name, version, tuple(re.findall(r"sha256:(\w{64})", rest)))


def installed_pins() -> Iterator[tuple[Pin, Distribution]]:
    """The locked packages that are installed, with what is installed of each.

    Raises:
        SystemExit: one is installed in another version.
    """
    pins: dict[str, list[Pin]] = {}
    for pin in read_pins():
        pins.setdefault(pin.name, []).append(pin)
    for name, versions in sorted(pins.items()):
        try:
            found = distribution(name)
        except PackageNotFoundError:
            continue  # for another Python or machine, or the ROS 2 is a sourced one
        matching = [pin for pin in versions if pin.version == found.version]
        if not matching:
            raise SystemExit(f"error: {name} {found.version} is installed, which is not locked: "
                             "run `make setup`")
        yield max(matching, key=lambda pin: pin.file in USED_AT_RUN_TIME), found


def normalise(name: str) -> str:
    """A package name as PyPI compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def licences(pin: Pin, found: Distribution) -> list[dict[str, Any]]:
    """The licence in the words of CycloneDX; empty where the package names none."""
    said = found.metadata
    if said.get("License-Expression"):
        return [{"expression": str(said["License-Expression"])}]
    text = str(said.get("License") or "").strip()
    names = [text] if "\n" not in text else []
    names += [line.split(" :: ")[-1] for line in said.get_all("Classifier") or ()
              if line.startswith("License :: ")]
    names += ros_licences(pin.name)
    names = [name for name in names if name]
    known = [name for name in names if name in SPDX]
    if known:
        return [{"license": {"id": SPDX[known[0]]}}]
    if names:
        return [{"license": {"name": names[0]}}]
    return [{"license": {"name": "in words of its own", "text": {"content": text}}}] if text else []


def ros_licences(name: str) -> list[str]:
    """The licences that the package.xml of a ROS 2 wheel names, which the wheel itself does not."""
    folder = name.removeprefix("ros-").replace("-", "_")
    file = Path(sys.prefix) / "share" / folder / "package.xml"
    if not name.startswith("ros-") or not file.exists():
        return []
    return [str(element.text) for element in ElementTree.parse(file).getroot().findall("license")]


def component(pin: Pin, found: Distribution) -> dict[str, Any]:
    """The CycloneDX component of an installed package."""
    out: dict[str, Any] = {
        "type": "library", "bom-ref": f"pkg:pypi/{pin.name}@{pin.version}", "name": pin.name,
        "version": pin.version, "purl": f"pkg:pypi/{pin.name}@{pin.version}",
        "scope": "required" if pin.file in USED_AT_RUN_TIME else "excluded",
        "externalReferences": [{
            "type": "distribution", "url": f"https://pypi.org/project/{pin.name}/{pin.version}/",
            "hashes": [{"alg": "SHA-256", "content": value} for value in pin.hashes]}]}
    said = found.metadata
    if terms := licences(pin, found):
        out["licenses"] = terms
    if said.get("Summary"):
        out["description"] = str(said["Summary"])
    author = said.get("Author") or said.get("Author-email") or said.get("Maintainer")
    if author:
        out["publisher"] = str(author)
    return out


def needs(found: Distribution, known: dict[str, str]) -> list[str]:
    """References of the known packages that a package needs, without its optional ones."""
    required = [text for text in found.requires or () if "extra ==" not in text]
    names = {normalise(re.split(r"[^\w.-]", text)[0]) for text in required}
    return sorted(known[name] for name in names if name in known)


def bill_of_materials() -> dict[str, Any]:
    """The whole document."""
    installed = list(installed_pins())
    refs = {pin.name: f"pkg:pypi/{pin.name}@{pin.version}" for pin, _ in installed}
    version = ElementTree.parse(ROOT / "package.xml").getroot().findtext("version")
    own = f"pkg:generic/inertial_id_ros@{version}"
    dependencies = [{"ref": own, "dependsOn": sorted(
        refs[pin.name] for pin, _ in installed if pin.file in USED_AT_RUN_TIME)}]
    dependencies += [{"ref": refs[pin.name], "dependsOn": needs(found, refs)}
                     for pin, found in installed]
    content = {
        "metadata": {
            "lifecycles": [{"phase": "build"}],
            "component": {"type": "application", "bom-ref": own, "name": "inertial_id_ros",
                          "version": version, "licenses": [{"license": {"id": "Apache-2.0"}}]},
            "properties": [
                {"name": "python", "value": platform.python_version()},
                {"name": "machine", "value": f"{sys.platform} {platform.machine()}"}]},
        "components": [component(pin, found) for pin, found in installed],
        "dependencies": dependencies}
    serial = uuid.uuid5(NAMESPACE, json.dumps(content, sort_keys=True))
    return {"$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
            "bomFormat": "CycloneDX", "specVersion": "1.6", "serialNumber": f"urn:uuid:{serial}",
            "version": 1, **content}


def main() -> int:
    """Write the file."""
    document = bill_of_materials()
    OUT.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n")
    print(f"{OUT.name}: {len(document['components'])} packages")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
