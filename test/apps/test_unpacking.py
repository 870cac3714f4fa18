# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Compressed recordings: what is sound is read, what lies about its size is not unpacked."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from bag_containers import (
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

from inertial_id_ros.apps.bag import reader, unpacking
from inertial_id_ros.apps.bag.reader import BagReader
from inertial_id_ros.errors import RecordingError

TEXT = "std_msgs/msg/String"
MESSAGES = [Raw("/a", TEXT, 10 + k, b"\0\1\0\0" + (5).to_bytes(4, "little") + b"%04d\0" % k)
            for k in range(450)]

_READ = """
import sys
from inertial_id_ros.apps.bag.reader import BagReader
from inertial_id_ros.errors import RecordingError
try:
    with BagReader(sys.argv[1]) as recording:
        list(recording.raw_of({"/a": "std_msgs/msg/String"}))
except RecordingError as error:
    print(error)
# Resource usage would count what this process was a copy of before it began.
print(next(s.split()[1] for s in open('/proc/self/status') if s.startswith('VmHWM')))
"""


def contents(path: Path) -> list[str]:
    with BagReader(path) as recording:
        return [m.content.data for m in recording.messages({"/a": TEXT})]


@pytest.mark.parametrize("container", list(CONTAINERS))
def test_every_container_reads_alike(container: str, tmp_path: Path) -> None:
    write(tmp_path / "bag", MESSAGES, container)
    assert contents(tmp_path / "bag") == [f"{k:04d}" for k in range(450)]


@pytest.mark.parametrize("container", CHUNKED)
@pytest.mark.parametrize("indexed", [True, False])
@pytest.mark.parametrize(("size", "words"), [
    (100, "a chunk unpacks to more than 100 bytes"), (2**40, "at most 512000000 are allowed"),
    (500_000_000, "size mismatch")])
def test_a_chunk_that_lies_about_its_size_is_refused(
        container: str, indexed: bool, size: int, words: str, tmp_path: Path) -> None:
    write(tmp_path / "bag", MESSAGES, container)
    file = storage_file(tmp_path / "bag")
    declare_sizes(file, size)
    if not indexed:
        without_index(file)
    with pytest.raises(RecordingError, match=f"cannot be read: .*{words}"):
        contents(file)


@pytest.mark.parametrize("container", CHUNKED)
def test_a_chunk_that_is_cut_or_damaged_is_refused(container: str, tmp_path: Path) -> None:
    pack = compressor(CONTAINERS[container][2])
    for k, damage in enumerate((lambda b: b[:-5], lambda b: b"", lambda b: b"x" * 40,
                                lambda b: b + b"x" * 40)):
        write(tmp_path / f"{k}", MESSAGES, container, lambda data, d=damage: d(pack(data)))
        with pytest.raises(RecordingError, match="cannot be read: "):
            contents(tmp_path / f"{k}")


def test_a_chunk_of_several_frames_is_read(tmp_path: Path) -> None:
    for container in CHUNKED:
        pack = compressor(CONTAINERS[container][2])
        write(tmp_path / container, MESSAGES, container,
              lambda data, pack=pack: pack(data[:100]) + pack(data[100:]))
        assert len(contents(tmp_path / container)) == 450


def test_messages_and_files_are_unpacked_up_to_a_limit(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for container in ("sqlite3 messages", "mcap file"):
        write(tmp_path / container, MESSAGES, container)
    monkeypatch.setattr(unpacking, "MAX_MESSAGE_BYTES", 5)
    monkeypatch.setattr(unpacking, "MAX_UNPACKED_BYTES", 1000)
    with pytest.raises(RecordingError, match="a message unpacks to more than 5 bytes"):
        contents(tmp_path / "sqlite3 messages")
    with pytest.raises(RecordingError, match="file unpacks to more than 1000 bytes"):
        contents(tmp_path / "mcap file")


@pytest.mark.slow
@pytest.mark.parametrize("container", CHUNKED)
def test_a_bomb_takes_no_memory(container: str, tmp_path: Path) -> None:
    """Three gigabytes behind some kilobytes, read in a process of its own."""
    how = CONTAINERS[container][2]
    write(tmp_path / "bag", MESSAGES, container, lambda data: bomb(how))
    done = subprocess.run([sys.executable, "-c", _READ, str(tmp_path / "bag")],
                          capture_output=True, text=True, timeout=60, check=True)
    words, kilobytes = done.stdout.splitlines()
    assert "unpacks to more than" in words
    assert int(kilobytes) < 500_000


_LEAVES_ROSBAGS_ALONE = """
import sys
import apsw
from rosbags.rosbag2 import Reader, reader, storage_mcap
before = (dict(storage_mcap.DECOMPRESSORS), reader.zstd, dict(Reader.STORAGE_PLUGINS),
          dict(reader.DirectoryReader.STORAGE_PLUGINS), list(apsw.connection_hooks))
from inertial_id_ros.apps.bag.reader import BagReader
for path in sys.argv[1:]:
    with BagReader(path) as recording:
        assert len(list(recording.raw_of({"/a": "std_msgs/msg/String"}))) == 450
assert before == (storage_mcap.DECOMPRESSORS, reader.zstd, Reader.STORAGE_PLUGINS,
                  reader.DirectoryReader.STORAGE_PLUGINS, apsw.connection_hooks)
"""


@pytest.mark.slow
def test_other_users_of_the_libraries_notice_nothing(tmp_path: Path) -> None:
    paths = [tmp_path / container for container in CONTAINERS]
    for path in paths:
        write(path, MESSAGES, path.name)
    subprocess.run([sys.executable, "-c", _LEAVES_ROSBAGS_ALONE, *map(str, paths)], check=True,
                   timeout=60)


def test_chunks_that_overlap_are_counted_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch
                                                  ) -> None:
    """Three chunks one after the other are fine where three at a time are too much."""
    write(tmp_path / "one", MESSAGES, "mcap zstd")
    write(tmp_path / "all", sorted(MESSAGES, key=lambda m: m.time % 200), "mcap zstd")
    monkeypatch.setattr(reader, "MAX_OVERLAPPING_BYTES", 15_000)
    assert len(contents(tmp_path / "one")) == 450
    with pytest.raises(RecordingError, match="chunks that overlap in time have"):
        contents(tmp_path / "all")


def test_chunks_that_overlap_are_read_in_the_order_of_their_times(tmp_path: Path) -> None:
    """Also messages of the same time: in the order in which they were written."""
    mixed = sorted(MESSAGES, key=lambda m: (m.time // 40, m.time % 7))
    same = [Raw(m.topic, m.type, m.time // 3, m.data) for m in mixed]
    write(tmp_path / "bag", same, "mcap zstd")
    with BagReader(tmp_path / "bag") as recording:
        read = [(m.log_time, m.data) for m in recording.raw_of({"/a": TEXT})]
    assert read == [(m.time, m.data) for m in sorted(same, key=lambda m: m.time)]


def test_a_pipe_that_metadata_names_is_not_waited_for(tmp_path: Path) -> None:
    write(tmp_path / "bag", MESSAGES, "sqlite3 file")
    file = storage_file(tmp_path / "bag")
    file.unlink()
    os.mkfifo(file)
    with pytest.raises(RecordingError, match="no regular file"):
        contents(tmp_path / "bag")
