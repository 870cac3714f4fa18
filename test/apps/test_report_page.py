# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The HTML report of a recording: its numbers, its form, and what it never loads or obeys."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import bags
import numpy as np
import pytest

from inertial_id_ros.apps.bag.identify_bag import main
from inertial_id_ros.apps.report.diagnosis import Diagnosis
from inertial_id_ros.apps.report.page import render

pytestmark = pytest.mark.slow
UNITS = {"kg": 1.0, "mm": 1e-3, "kg m\u00b2": 1.0}
VOID = {"meta", "br", "col", "img"}


def parse(path: Path) -> ElementTree.Element:
    """The page, read by a parser that forgives nothing."""
    text = path.read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>\n")
    return ElementTree.fromstring(text.split("\n", 1)[1])


def words(node: ElementTree.Element | None) -> str:
    assert node is not None
    return " ".join("".join(node.itertext()).split())


def table(root: ElementTree.Element, caption: str) -> list[list[str]]:
    """Cells of the rows of a table."""
    found = next(t for t in root.iter("table") if words(t.find("caption")) == caption)
    return [[words(cell) for cell in row] for row in found.findall("tbody/tr")]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict]:
    """Report and JSON of one run."""
    folder = tmp_path_factory.mktemp("report")
    bags.joint_bag(folder / "arm", duration=6.0)
    status = main([str(folder / "arm"), "--report", str(folder / "out" / "deep"), "--quiet",
                   "--shape", "box:0.2,0.2,0.3@0.02,-0.03,0.08", "--json", str(folder / "o.json")])
    assert status == 0
    return folder / "out" / "deep" / "arm.html", json.loads((folder / "o.json").read_text())


def test_the_table_holds_the_numbers_of_the_estimate(made: tuple[Path, dict]) -> None:
    """Every value and interval is the JSON's, to half of its last digit."""
    root, result = parse(made[0]), made[1]
    tensor = np.array(result["inertia_com"])
    values = [result["mass"], *result["com"], *tensor[np.triu_indices(3)]]
    sigma = np.sqrt(np.diag(result["covariance"]))
    rows = table(root, "Payload")
    assert len(rows) == 10
    for (_, value, spread, unit, verdict), wanted, s, said in zip(
            rows, values, sigma, result["verdict"], strict=True):
        for text, number in ((value, wanted), (spread.removeprefix("\u00b1 "), 1.96 * s)):
            digits = len(text.partition(".")[2])
            assert float(text) == pytest.approx(number / UNITS[unit], abs=0.51 * 10.0**-digits)
        assert verdict == said


def test_the_first_screen_says_mass_and_verdict(made: tuple[Path, dict]) -> None:
    root = parse(made[0])
    verdict = next(s for s in root.iter("section") if s.get("id") == "verdict")
    assert "good" in verdict.get("class", "")
    assert "Mass, centre of mass and inertia are identified." in words(verdict)
    cards = next(u for u in root.iter("ul") if u.get("class") == "cards")
    assert f"{made[1]['mass']:.2f}" in words(cards)


def test_what_is_left_of_the_wrench_is_little_and_of_unseen_data(made: tuple[Path, dict]) -> None:
    """The truth of the recording bounds what its payload exerts."""
    rows = {row[0]: row for row in table(parse(made[0]), "Residual wrench, rms")}
    t = np.linspace(2.0, 6.0, 400)
    exerted = bags.wrench(t, bags.Payload(bias=(0.0,) * 6))
    rms = np.sqrt(np.mean(np.sum(exerted[:, :3]**2, axis=1)))
    assert float(rows["force"][1]) == pytest.approx(rms, rel=0.1)
    assert float(rows["force"][2]) < 0.02 * rms


def test_the_set_up_can_be_reproduced(made: tuple[Path, dict]) -> None:
    root = parse(made[0])
    section = next(s for s in root.iter("section") if s.get("id") == "reproduce")
    said = words(section)
    assert "identify_bag" in said and "--shape box:0.2,0.2,0.3@0.02,-0.03,0.08" in said
    assert ["numpy", np.__version__] in table(root, "Versions")
    changed = {row[0] for row in table(root, "Settings other than the default")}
    assert changed == {"shape.type", "shape.size", "shape.center"}
    topics = {name: int(count) for name, count in table(root, "What was read, 6.0 s")}
    assert topics == made[1]["messages"]


def test_the_page_loads_nothing(made: tuple[Path, dict]) -> None:
    """No address, no source, no style from elsewhere; links stay on the page."""
    text, root = made[0].read_text(encoding="utf-8"), parse(made[0])
    assert not re.search(r"https?:|//[a-z]|@import|url\(|srcdoc", text)
    for node in root.iter():
        for name, value in node.attrib.items():
            assert name != "src" or value.startswith("data:image/svg+xml;base64,")
            assert name not in {"srcset", "xlink:href", "action", "poster"}
            assert name != "href" or value.startswith("#")
            assert not name.startswith("on")
        assert node.tag not in {"link", "iframe", "object", "embed", "base", "script"}
    policy = next(m for m in root.iter("meta") if m.get("http-equiv"))
    assert "default-src 'none'" in policy.get("content", "")


def test_the_page_is_accessible(made: tuple[Path, dict]) -> None:
    root = parse(made[0])
    assert root.get("lang") == "en" and root.find("head/title") is not None
    identities = [node.get("id") for node in root.iter() if node.get("id")]
    assert len(identities) == len(set(identities))
    pictures = list(root.iter("img"))
    assert len(pictures) == 8 and all(len(node.get("alt", "")) > 20 for node in pictures)
    for node in pictures:
        ElementTree.fromstring(b64decode(node.get("src", "").partition("base64,")[2]))
    for node in root.iter("table"):
        assert words(node.find("caption")) and node.find("tbody/tr") is not None
        assert all(head.get("scope") in ("row", "col") for head in node.iter("th"))
    named = {node.get("aria-labelledby") for node in root.iter("section")} - {None}
    assert named <= set(identities)
    assert [node.tag for node in root.iter() if re.fullmatch("h[1-6]", str(node.tag))][0] == "h1"
    assert any(m.get("name") == "viewport" for m in root.iter("meta"))
    assert "@media print" in words(root.find("head/style"))


def luminance(colour: str) -> float:
    """Relative luminance of a colour (WCAG 2.2)."""
    share = np.array([int(colour[k:k + 2], 16) for k in (1, 3, 5)]) / 255.0
    linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


@pytest.mark.parametrize("name", ["good", "fair", "bad", "ink", "dim"])
def test_the_colours_of_words_stand_out(name: str) -> None:
    """4.5 to 1 against white and against the grey of the verdict."""
    css = render("", Diagnosis("good", "", "", (), ()), [])
    colours = dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", css))
    for ground in ("#ffffff", colours["soft"]):
        assert (luminance(ground) + 0.05) / (luminance(colours[name]) + 0.05) >= 4.5


class Tags(HTMLParser):
    """Checks that what is opened is closed, as HTML and not as XML."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list) -> None:
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list) -> None:
        assert tag in VOID, tag

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_is_html_as_well(made: tuple[Path, dict]) -> None:
    tags = Tags()
    tags.feed(made[0].read_text(encoding="utf-8"))
    assert tags.open == []


def test_names_from_outside_are_text(tmp_path: Path) -> None:
    """A frame that is markup, or an escape code, is shown and not obeyed."""
    forged = "s<script>x()</script>&\"'\x1b[31m"
    bags.write_bag(tmp_path / "bag", [bags.wrench_stream(2.0, bags.Payload(), frame=forged),
                                      bags.tf_stream(2.0)])
    main([str(tmp_path / "bag"), "--sensor-frame", "sensor", "--report", str(tmp_path), "--quiet"])
    root = parse(tmp_path / "bag.html")
    assert not list(root.iter("script"))
    text = (tmp_path / "bag.html").read_text(encoding="utf-8")
    assert "&lt;script&gt;x()&lt;/script&gt;" in text and "\x1b" not in text


def test_without_an_estimate_the_page_says_why(tmp_path: Path) -> None:
    bags.tf_bag(tmp_path / "short", duration=0.3)
    assert main([str(tmp_path / "short"), "--report", str(tmp_path), "--quiet"]) == 1
    verdict = next(s for s in parse(tmp_path / "short.html").iter("section"))
    assert "bad" in verdict.get("class", "") and "No estimate" in words(verdict)
    assert "Waiting for the first second of data." in words(verdict)


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path,
                                               capsys: pytest.CaptureFixture[str]) -> None:
    bags.tf_bag(tmp_path / "short", duration=0.3)
    (tmp_path / "file").write_text("")
    assert main([str(tmp_path / "short"), "--report", str(tmp_path / "file" / "in")]) == 2
    assert "--report" in capsys.readouterr().err
