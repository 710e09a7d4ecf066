from __future__ import annotations

import csv
import hashlib
import tempfile
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given as drawn_from
from hypothesis import settings
from hypothesis import strategies as st
from stressreel.annotations.actions import AnnotatedVideo, Annotations
from stressreel.annotations.charades import ADVICE, CHARADES, COLUMNS, class_actions, read_charades
from stressreel.core.errors import InputError
from stressreel.templates import load_classes
from stressreel.video import source_files as files
from stressreel.video.source_files import VIDEO_SUFFIXES, find_file

find_videos = partial(files.find_videos, subfolders=CHARADES.video_folders)

HEADER = ",".join(COLUMNS)


def row(name: str = "46GP8", actions: str = "c092 11.90 21.20;c147 0.00 12.60", length: str = "24.83") -> str:
    return f"{name},HR43,Kitchen,6,7,Yes,A script.,food;stove,A description.,{actions},{length}"


def write(folder: Path, *rows: str, split: str = "train", header: str = HEADER) -> Path:
    path = folder / f"Charades_v1_{split}.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([header, *rows, ""]), encoding="utf-8", newline="")
    return path


def refusal(folder: Path) -> list[str]:
    """The lines of the one error that reading a folder ends with."""
    with pytest.raises(InputError) as caught:
        read_charades(folder)
    return [line.strip() for line in str(caught.value).split("\n")]


def only(annotations: Annotations) -> AnnotatedVideo:
    (video,) = annotations.videos
    return video


def spans(video: AnnotatedVideo) -> list[tuple[str, float, float]]:
    return [(s.action.key, s.start_s, s.end_s) for s in video.segments]


# What a row says


def test_a_row_becomes_a_video(tmp_path: Path) -> None:
    path = write(tmp_path, row())
    annotations = read_charades(tmp_path)
    video = only(annotations)
    assert (video.id, video.split, video.subject, video.length_s) == ("46GP8", "train", "HR43", 24.83)
    assert spans(video) == [("c092", 11.9, 21.2), ("c147", 0, 12.6)]
    assert [s.action.label for s in video.segments] == [
        "Watching/Looking outside of a window",
        "Someone is cooking something",
    ]
    assert video.verbs == {"watch", "cook"}
    assert video.objects == {"window", "food"}
    assert video.columns == dict(zip(COLUMNS, row().split(","), strict=True))
    assert annotations.hashes == {path.name: hashlib.sha256(path.read_bytes()).hexdigest()}


def test_windows_line_ends_a_mark_quotes_and_a_column_more_are_read(tmp_path: Path) -> None:
    described = '"A person, ""tired"",\r\nsits;A cat, too"'
    cells = f"46GP8,HR43,Kitchen,6,7,Yes,A script.,food,{described},c092 1 2,24.83,extra"
    (tmp_path / "Charades_v1_train.csv").write_bytes(b"\xef\xbb\xbf" + f"{HEADER},mine\r\n{cells}\r\n".encode())
    video = only(read_charades(tmp_path))
    assert video.columns["descriptions"] == 'A person, "tired",\r\nsits;A cat, too'
    assert video.columns["mine"] == "extra"
    assert list(video.columns) == [*COLUMNS, "mine"]
    assert spans(video) == [("c092", 1, 2)]


def test_columns_may_stand_in_another_order(tmp_path: Path) -> None:
    write(tmp_path, "24.83,c092 1 2,HR43,46GP8", header="length,actions,subject,id")
    assert only(read_charades(tmp_path)).columns == {
        "length": "24.83",
        "actions": "c092 1 2",
        "subject": "HR43",
        "id": "46GP8",
    }


@pytest.mark.parametrize("actions", ["", "  ", ";", " ; ;"])
def test_a_video_without_actions_stays(tmp_path: Path, actions: str) -> None:
    write(tmp_path, row(actions=actions))
    annotations = read_charades(tmp_path)
    assert only(annotations).segments == ()
    assert only(annotations).verbs == only(annotations).objects == frozenset()
    assert annotations.counts["videos_without_actions"] == 1


def test_spaces_and_a_last_semicolon_do_no_harm(tmp_path: Path) -> None:
    write(tmp_path, row(actions=" c092  1 2 ; c147 3\t4;"))
    assert spans(only(read_charades(tmp_path))) == [("c092", 1, 2), ("c147", 3, 4)]


def test_ends_past_the_length_are_clamped_and_every_oddity_is_counted(tmp_path: Path) -> None:
    write(
        tmp_path,
        row("AAAAA", "c000 1.0 10.0;c001 2.0 10.01;c002 3.0 99", "10.0"),
        row("BBBBB", "c000 10.0 12.0;c001 9.99 12.0;c002 11.0 12.0", "10.0"),
        row("CCCCC", "c000 5.0 5.0;c001 6.0 5.0;c002 5.0 5.01", "10.0"),
        row("DDDDD", "", "10.0"),
    )
    annotations = read_charades(tmp_path)
    assert [spans(video) for video in annotations.videos] == [
        [("c000", 1, 10), ("c001", 2, 10), ("c002", 3, 10)],
        [("c000", 10, 10), ("c001", 9.99, 10), ("c002", 11, 10)],
        [("c000", 5, 5), ("c001", 6, 5), ("c002", 5, 5.01)],
        [],
    ]
    assert annotations.counts == {
        "empty_or_inverted_intervals": 2,
        "ends_clamped_to_length": 5,
        "starts_past_length": 2,
        "videos": 4,
        "videos_without_actions": 1,
    }


def test_only_the_someone_classes_are_not_usable() -> None:
    actions = class_actions(load_classes())
    assert len(actions) == 157
    unusable = [key for key, action in actions.items() if not action.usable]
    assert unusable == ["c115", "c133", *(f"c{number}" for number in range(146, 157))]
    assert actions["c149"].objects == frozenset()
    assert actions["c106"].objects == {"cup/glass/bottle"}
    assert (actions["c139"].label, actions["c139"].phrase, actions["c139"].verb) == (
        "Washing their hands",
        "washing hands",
        "wash",
    )


SECONDS = st.integers(0, 99_999).map(lambda hundredths: hundredths / 100)
WORDS = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc", "Zl", "Zp")) | st.sampled_from('",\n'))


@settings(derandomize=True, deadline=None, max_examples=60)
@drawn_from(
    st.lists(
        st.fixed_dictionaries(
            {
                "id": st.from_regex(r"[0-9A-Z]{5}", fullmatch=True),
                "subject": WORDS,
                "descriptions": WORDS,
                "length": SECONDS.filter(bool),
                "actions": st.lists(st.tuples(st.integers(0, 156), SECONDS, SECONDS), max_size=6),
            }
        ),
        min_size=1,
        max_size=8,
        unique_by=lambda drawn: drawn["id"],
    )
)
def test_valid_rows_are_read_as_they_were_written(drawn: list[dict[str, object]]) -> None:
    written: list[dict[str, str]] = []
    expected = []
    for values in drawn:
        actions: list[tuple[int, float, float]] = values["actions"]  # type: ignore[assignment]
        length: float = values["length"]  # type: ignore[assignment]
        text = ";".join(f"c{number:03d} {start:.2f} {end:.2f}" for number, start, end in actions)
        written.append(
            {**dict.fromkeys(COLUMNS, "6"), **{k: str(v) for k, v in values.items()}, "actions": text}
            | {"length": f"{length:.2f}"}
        )
        expected.append((length, [(f"c{n:03d}", start, min(end, length)) for n, start, end in actions]))
    with tempfile.TemporaryDirectory() as folder:
        with open(Path(folder) / "Charades_v1_test.csv", "w", encoding="utf-8", newline="") as handle:
            writer = csv.DictWriter(handle, COLUMNS)
            writer.writeheader()
            writer.writerows(written)
        annotations = read_charades(Path(folder))
    assert [(video.length_s, spans(video)) for video in annotations.videos] == expected
    assert [video.columns for video in annotations.videos] == [
        {name: value.strip() for name, value in values.items()} for values in written
    ]
    assert {video.split for video in annotations.videos} == {"test"}


# Which files are read


@pytest.mark.parametrize("place", [".", "Charades", "data/Charades"])
def test_the_annotations_are_found_up_to_two_folders_down(tmp_path: Path, place: str) -> None:
    write(tmp_path / place, row())
    write(tmp_path / place, row("N11GT"), split="test")
    assert [(v.id, v.split) for v in read_charades(tmp_path).videos] == [("46GP8", "train"), ("N11GT", "test")]


def test_three_folders_down_is_too_deep(tmp_path: Path) -> None:
    write(tmp_path / "a/b/c", row())
    assert refusal(tmp_path)[0].startswith("no Charades_v1_train.csv or Charades_v1_test.csv in")


def test_the_shallowest_file_wins_then_the_first_by_name(tmp_path: Path) -> None:
    deep, second, first = (write(tmp_path / place, row()) for place in ("a/x", "c", "b"))
    name = first.name
    assert find_file(tmp_path, name) == first
    first.unlink()
    assert find_file(tmp_path, name) == second
    second.unlink()
    assert find_file(tmp_path, name) == deep
    deep.unlink()
    assert find_file(tmp_path, name) is None


def test_only_the_splits_that_were_asked_for_are_read(tmp_path: Path) -> None:
    write(tmp_path, row())
    write(tmp_path, "damaged", split="test")
    annotations = read_charades(tmp_path, ["train"])
    assert only(annotations).id == "46GP8"
    assert list(annotations.hashes) == ["Charades_v1_train.csv"]


def test_one_split_of_two_will_do_but_not_none(tmp_path: Path) -> None:
    write(tmp_path, row(), split="test")
    assert only(read_charades(tmp_path)).split == "test"
    with pytest.raises(InputError, match=r"no Charades_v1_train\.csv in .*unpack them there"):
        read_charades(tmp_path, ["train"])


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"there is no folder .*absent.*or the word sample"):
        read_charades(tmp_path / "absent")


# Rows that are refused


INTERVAL = "'class start end' in seconds, such as c092 11.90 21.20"
LENGTH = "a length in seconds such as 24.83"


@pytest.mark.parametrize(
    ("bad", "column", "expected", "given"),
    [
        (row() + ",more", None, "11 fields", f"12: {row()[:73]}…"),
        ("46GP8,HR43", None, "11 fields", "2: 46GP8,HR43"),
        *((row(length=text), "length", LENGTH, text) for text in ("", "0.00", "-3", "nan", "inf", "24.83 s")),
        *((row(actions=f"{key} 1 2"), "actions", "a class from c000 to c156", key) for key in ("c157", "C092", "92")),
        *(
            (row(actions=f"c000 0 1;{text}; c001 1 2"), "actions", INTERVAL, text)
            for text in ("c092", "c092 1", "c092 1 2 3", "c092 one 2", "c092 1 two", "c092 -1 2", "c092 1 -2")
        ),
        *((row(actions=text), "actions", INTERVAL, text) for text in ("c092 nan 2", "c092 1 nan", "c092 1 inf")),
        *(
            (row(name), "id", "a video id such as 46GP8", name)
            for name in ("", "../46GP8", "..", ".", ".hidden", "/etc/passwd", "a/b", "..\\b", "C:\\b")
        ),
    ],
)
def test_a_malformed_row_is_refused_with_its_place(
    tmp_path: Path, bad: str, column: str | None, expected: str, given: str
) -> None:
    write(tmp_path, row("AAAAA"), bad)
    place = "Charades_v1_train.csv, line 3" + (f", column {column}" if column else "")
    assert refusal(tmp_path) == [
        "1 problem in the annotations; nothing was written.",
        f"{place}: expected {expected}, got {given!r}",
        ADVICE,
    ]


def test_all_malformed_rows_of_both_files_are_told_at_once_by_physical_line(tmp_path: Path) -> None:
    cells = row("BBBBB").split(",")
    cells[8] = '"first\nsecond\n\nfourth"'
    write(
        tmp_path,
        row("AAAAA", "c092 x 1;c999 1 2", "ten"),
        ",".join(cells),
        "",
        row("CCCCC", "c092 x 1;c999 1 2"),
        "short",
        row("DDDDD"),
    )
    write(tmp_path, row("EEEEE"), row("FFFFF", length="-1"), split="test")
    assert refusal(tmp_path) == [
        "5 problems in the annotations; nothing was written.",
        "Charades_v1_train.csv, line 2, column length: expected a length in seconds such as 24.83, got 'ten'",
        "Charades_v1_train.csv, line 8, column actions: expected 'class start end' in seconds, such as "
        "c092 11.90 21.20, got 'c092 x 1'",
        "Charades_v1_train.csv, line 8, column actions: expected a class from c000 to c156, got 'c999'",
        "Charades_v1_train.csv, line 9: expected 11 fields, got '1: short'",
        "Charades_v1_test.csv, line 3, column length: expected a length in seconds such as 24.83, got '-1'",
        ADVICE,
    ]


@pytest.mark.parametrize("split", ["train", "test"])
def test_an_id_that_comes_twice_is_refused_also_across_the_splits(tmp_path: Path, split: str) -> None:
    write(tmp_path, row(), row("BBBBB"))
    path = write(tmp_path, *[row("BBBBB")] * (1 + (split == "train")), split=split)
    line = 3 if split == "train" else 2
    assert refusal(tmp_path)[:2] == [
        "1 problem in the annotations; nothing was written.",
        f"{path.name}, line {line}, column id: expected an id that comes once, got 'BBBBB'",
    ]


@pytest.mark.parametrize("column", ["id", "subject", "actions", "length"])
def test_a_missing_column_is_refused(tmp_path: Path, column: str) -> None:
    names = [name for name in COLUMNS if name != column]
    write(tmp_path, row(), header=",".join(names))
    assert refusal(tmp_path) == [
        "Charades_v1_train.csv, line 1: expected the columns id, subject, actions, length; "
        f"{column} is missing (got: {', '.join(names)})."
    ]


def test_a_byte_that_is_not_utf8_is_refused_with_its_line(tmp_path: Path) -> None:
    path = write(tmp_path, row(), row("BBBBB").replace("script", "scr\xefpt"))
    path.write_bytes(path.read_text(encoding="utf-8").encode("latin-1"))
    assert refusal(tmp_path) == [
        "Charades_v1_train.csv, line 3: expected UTF-8, got byte 0xef. Save the file as UTF-8."
    ]


# The class files


def class_files() -> Mapping[str, list[str]]:
    table = load_classes()
    verbs = {name: key for key, name in table.verbs.items()}
    objects = {name: key for key, name in table.objects.items()}
    return {
        "classes": [f"{c.id} {c.label}" for c in table.classes.values()],
        "mapping": [f"{c.id} {objects[c.object]} {verbs[c.verb]}" for c in table.classes.values()],
        "objectclasses": [f"{key} {name}" for key, name in table.objects.items()],
        "verbclasses": [f"{key} {name}" for key, name in table.verbs.items()],
    }


def write_class_files(folder: Path, end: str = "\n") -> None:
    for name, lines in class_files().items():
        path = folder / f"Charades_v1_{name}.txt"
        path.write_bytes("".join(line + end for line in lines).encode())


@pytest.mark.parametrize("end", ["\n", "\r\n", " \n\n"])
def test_class_files_that_agree_are_hashed(tmp_path: Path, end: str) -> None:
    write(tmp_path / "Charades", row())
    write_class_files(tmp_path / "Charades", end)
    assert read_charades(tmp_path).hashes == {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in (tmp_path / "Charades").iterdir()
    }


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("classes", "c000 Holding some clothes", "c000 Folding some clothes"),
        ("mapping", "c000 o009 v008", "c000 o009 v009"),
        ("objectclasses", "o009 clothes", "o009 clothing"),
        ("verbclasses", "v008 hold", "v008 keep"),
    ],
)
def test_class_files_that_disagree_are_refused(tmp_path: Path, name: str, old: str, new: str) -> None:
    write(tmp_path, row())
    write_class_files(tmp_path)
    path = tmp_path / f"Charades_v1_{name}.txt"
    lines = path.read_text().splitlines()
    number = lines.index(old)
    lines[number] = new
    path.write_text("\n".join([*lines, "c157 Flying"]))
    assert refusal(tmp_path) == [
        "2 problems in the annotations; nothing was written.",
        f"{path.name}, line {number + 1}: expected a line of Charades v1, got {new!r}",
        f"{path.name}, line {len(lines) + 1}: expected a line of Charades v1, got 'c157 Flying'",
        "The phrases in the questions belong to the 157 classes of Charades v1; other classes cannot be asked about.",
    ]


@pytest.mark.shared
def test_the_built_in_table_is_charades_own(shared: Path) -> None:
    folder = shared / "data" / "charades"
    for name, lines in class_files().items():
        assert (folder / f"Charades_v1_{name}.txt").read_text().splitlines() == lines


@pytest.mark.shared
def test_all_of_charades_is_read(shared: Path) -> None:
    annotations = read_charades(shared / "data" / "charades")
    splits = [video.split for video in annotations.videos]
    assert [splits.count(split) for split in ("train", "test")] == [7985, 1863]
    assert [sum(not v.segments for v in annotations.videos if v.split == split) for split in ("train", "test")] == [
        174,
        49,
    ]
    assert annotations.counts["videos"] == 9848
    assert annotations.counts["videos_without_actions"] == 223
    assert all(s.end_s <= v.length_s for v in annotations.videos for s in v.segments)
    assert set(annotations.hashes) == {
        f"Charades_v1_{name}"
        for name in ("train.csv", "test.csv", "classes.txt", "mapping.txt", "objectclasses.txt", "verbclasses.txt")
    }


# Where the videos lie


def touch(*paths: Path) -> None:
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


@pytest.mark.parametrize("place", ["Charades_v1_480", "Charades_v1", "."])
def test_videos_are_found_in_the_usual_folders(tmp_path: Path, place: str) -> None:
    touch(tmp_path / place / "A.mp4", tmp_path / place / "unasked.mp4", tmp_path / "elsewhere" / "B.mp4")
    assert find_videos([tmp_path], ["A", "B"]) == {"A": tmp_path / place / "A.mp4"}


def test_the_small_videos_come_before_the_large_and_the_folder_itself_is_last(tmp_path: Path) -> None:
    small, large, beside = (tmp_path / p / "A.mp4" for p in ("Charades_v1_480", "Charades_v1", "."))
    touch(small, large, beside)
    for path in (small, large, beside):
        assert find_videos([tmp_path], ["A"]) == {"A": path}
        path.unlink()
    assert find_videos([tmp_path], ["A"]) == {}


def test_an_earlier_folder_wins_whatever_the_suffix_and_every_id_is_looked_up_by_itself(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    touch(one / "A.m4v", two / "Charades_v1_480" / "A.mp4", two / "B.mp4")
    found = find_videos([tmp_path / "absent", one, two], ["A", "B", "C"])
    assert found == {"A": one / "A.m4v", "B": two / "B.mp4"}


def test_mp4_wins_over_other_suffixes_in_the_same_folder(tmp_path: Path) -> None:
    assert VIDEO_SUFFIXES[0] == ".mp4"
    touch(*(tmp_path / f"A{suffix}" for suffix in (*VIDEO_SUFFIXES, ".txt", ".mp4.part", ".jpg")))
    for suffix in VIDEO_SUFFIXES:
        assert find_videos([tmp_path], ["A"]) == {"A": tmp_path / f"A{suffix}"}
        (tmp_path / f"A{suffix}").unlink()
    assert find_videos([tmp_path], ["A"]) == {}


def test_by_default_only_the_folder_itself_is_looked_into(tmp_path: Path) -> None:
    touch(tmp_path / "Charades_v1_480" / "A.mp4", tmp_path / "Charades_v1" / "B.mp4", tmp_path / "C.mp4")
    assert files.find_videos([tmp_path], ["A", "B", "C"]) == {"C": tmp_path / "C.mp4"}


def test_suffixes_may_be_upper_case_ids_not(tmp_path: Path) -> None:
    touch(tmp_path / "A.MP4", tmp_path / "b.mp4")
    assert find_videos([tmp_path], ["A", "B"]) == {"A": tmp_path / "A.MP4"}
