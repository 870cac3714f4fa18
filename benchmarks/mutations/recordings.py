# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Cases of damaged recordings: container, index, metadata, compression, tables, messages."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import yaml

from . import bags, texts
from .containers import (
    CHUNKED,
    CONTAINERS,
    Raw,
    bomb,
    compressor,
    declare_sizes,
    storage_file,
    without_index,
    write,
)
from .sound import Case, Sound
from .texts import Rng

_METHODS = ("density", "entropic", "lmi", "wls", "manifold", "pmd")
_SIZES = (0, 1, 1000, 10**6, 4 * 10**8, 10**9, 2**40, 2**63, 2**64 - 1)
_ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x AS "
_STATEMENTS = (
    "UPDATE messages SET data = NULL", "UPDATE messages SET data = 'text' WHERE id % 7 = 0",
    "UPDATE messages SET data = 3", "UPDATE messages SET data = zeroblob(300000000) WHERE id = 9",
    "UPDATE messages SET timestamp = 'x'", "UPDATE messages SET timestamp = -1 WHERE id % 5 = 0",
    "UPDATE messages SET timestamp = 9223372036854775807", "UPDATE messages SET timestamp = 1e300",
    "UPDATE messages SET topic_id = 99", "UPDATE messages SET topic_id = 1", "DELETE FROM messages",
    "DELETE FROM topics", "DELETE FROM schema", "DROP TABLE messages", "DROP TABLE topics",
    "DROP TABLE message_definitions", "DROP TABLE schema", "UPDATE schema SET schema_version = 99",
    "UPDATE schema SET schema_version = 'x'", "UPDATE topics SET type = ''",
    "UPDATE topics SET name = x'00ff'", "UPDATE topics SET name = 3", "UPDATE topics SET type = 7",
    "UPDATE topics SET offered_qos_profiles = '[1, {a'", "UPDATE topics SET name = '/a'",
    "UPDATE topics SET offered_qos_profiles = '- history: 99'",
    "UPDATE topics SET serialization_format = 'x'", "UPDATE message_definitions SET encoding = 'x'",
    "ALTER TABLE messages RENAME COLUMN data TO payload", "ALTER TABLE topics DROP COLUMN type",
    f"DROP TABLE schema; CREATE VIEW schema AS {_ENDLESS} schema_version FROM c",
    f"DROP TABLE message_definitions; CREATE VIEW message_definitions AS {_ENDLESS} topic_type, "
    "'' AS encoding, '' AS encoded_message_definition, '' AS type_description_hash, x AS id FROM c")


def container(rng: Rng) -> str:
    """One of the containers."""
    return str(rng.choice(list(CONTAINERS)))


def _copied(sound: Sound, folder: Path, name: str) -> Path:
    """The storage file of a copy of the sound recording."""
    shutil.copytree(sound.folder / name, folder / "bag")
    return storage_file(folder / "bag")


def _folder_or_file(file: Path, rng: Rng) -> list[str]:
    alone = rng.random() < 0.3 and file.suffix in (".mcap", ".db3")
    return [str(file if alone else file.parent)]


def storage(sound: Sound, folder: Path, rng: Rng) -> Case:
    file = _copied(sound, folder, container(rng))
    file.write_bytes(texts.mutated_bytes(file.read_bytes(), rng))
    return Case("identify_bag", _folder_or_file(file, rng))


def index(sound: Sound, folder: Path, rng: Rng) -> Case:
    """Index and footer of an mcap file, or the header of an SQLite file, mutated; magic kept."""
    file = _copied(sound, folder, str(rng.choice(["mcap", *CHUNKED, "sqlite3"])))
    data = bytearray(file.read_bytes())
    low, high = (len(data) - 3000, len(data) - 8) if file.suffix == ".mcap" else (32, 5000)
    for _ in range(int(rng.integers(1, 5))):
        at = int(rng.integers(low, high))
        data[at] = int(rng.choice([0, 255, data[at] ^ 1 << int(rng.integers(8))]))
    file.write_bytes(data)
    return Case("identify_bag", _folder_or_file(file, rng))


def metadata(sound: Sound, folder: Path, rng: Rng) -> Case:
    file = _copied(sound, folder, container(rng))
    text = file.with_name("metadata.yaml")
    text.write_bytes(texts.mutated_yaml(yaml.safe_load(text.read_text()), rng))
    return Case("identify_bag", [str(folder / "bag")])


def compressed(sound: Sound, folder: Path, rng: Rng) -> Case:
    """Compressed parts that lie about their size, unpack to gigabytes, or are damaged."""
    name = str(rng.choice(CHUNKED))
    how, fault = CONTAINERS[name][2], int(rng.integers(4))
    pack = compressor(how)
    size = _SIZES[int(rng.integers(len(_SIZES)))]
    if fault == 0:
        write(folder / "bag", sound.messages, name, lambda data: bomb(how))
    elif fault == 1:
        write(folder / "bag", sound.messages, name, lambda data: _damaged_once(pack(data), rng))
    else:
        _copied(sound, folder, name)
    file = storage_file(folder / "bag")
    if fault >= 2 or rng.random() < 0.3:
        declare_sizes(file, size, rng.random() < 0.7, rng.random() < 0.7)
    if rng.random() < 0.4:
        without_index(file)
    return Case("identify_bag", _folder_or_file(file, rng))


def _damaged_once(data: bytes, rng: Rng) -> bytes:
    return texts.mutated_bytes(data, rng) if rng.random() < 0.3 else data


def packed(sound: Sound, folder: Path, rng: Rng) -> Case:
    """Compressed messages, or a compressed file, that are damaged or unpack to gigabytes."""
    if rng.random() < 0.5:
        file = _copied(sound, folder, str(rng.choice(["mcap file", "sqlite3 file"])))
        data = file.read_bytes()
        file.write_bytes(bomb("zstd") if rng.random() < 0.1 else texts.mutated_bytes(data, rng))
        return Case("identify_bag", [str(folder / "bag")])
    plain = "sqlite3" if rng.random() < 0.5 else "mcap"
    pack, chosen, kind = compressor("zstd"), bags.some(sound.messages, rng), rng.random()
    write(folder / "bag", [
        m._replace(data=bomb("zstd") if kind < 0.1 else texts.mutated_bytes(pack(m.data), rng)
                   if k in chosen else pack(m.data)) if k in chosen or kind >= 0.1 else m
        for k, m in enumerate(sound.messages[:600])], plain)
    text = folder / "bag" / "metadata.yaml"
    text.write_text(text.read_text().replace("compression_mode: ''",
                                                     "compression_mode: MESSAGE").replace(
        "compression_format: ''", "compression_format: zstd"))
    return Case("identify_bag", [str(folder / "bag")])


def database(sound: Sound, folder: Path, rng: Rng) -> Case:
    """An SQLite file that is sound, with tables that are not: other types, views, no columns."""
    file = _copied(sound, folder, "sqlite3")
    with contextlib.closing(sqlite3.connect(file)) as connection:
        for _ in range(int(rng.integers(1, 4))):
            with contextlib.suppress(sqlite3.Error):
                connection.executescript(str(rng.choice(_STATEMENTS)))
        connection.commit()
    return Case("identify_bag", _folder_or_file(file, rng))


def messages(mutate: Callable[[list[Raw], Rng], list[Raw]], unharmed: bool = False
              ) -> Callable[[Sound, Path, Rng], Case]:
    def made(sound: Sound, folder: Path, rng: Rng) -> Case:
        write(folder / "bag", mutate(sound.messages, rng), container(rng))
        more = [] if unharmed or rng.random() < 0.5 else [
            "--method", str(rng.choice(_METHODS)), "--box", "0.2,0.2,0.2,0,0,0.1",
            "--set", f"kinematics.source={rng.choice(['auto', 'tf', 'joint_states'])}"]
        return Case("identify_bag", [str(folder / "bag"), *more], unharmed)

    return made
