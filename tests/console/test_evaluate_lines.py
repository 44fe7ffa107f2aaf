"""Reading input files."""

import pytest

from engram.console.evaluation.lines import InputError, InputRow, read_rows, refuse_repeated_ids


class Named(InputRow):
    id: str
    size: int


def write(tmp_path, *lines):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"\n".join(line.encode("utf-8", "surrogateescape") for line in lines))
    return path


def test_rows_are_read_and_blank_lines_and_other_fields_passed_over(tmp_path):
    path = write(tmp_path, '{"id": "a", "size": 1}', "", '{"id": "b", "size": 2, "more": []}', "")

    assert [(row.id, row.size) for row in read_rows(path, Named)] == [("a", 1), ("b", 2)]


def test_the_byte_order_mark_of_some_editors_is_passed_over(tmp_path):
    path = write(tmp_path, '\ufeff{"id": "a", "size": 1}', '\ufeff{"id": "b", "size": 2}')

    with pytest.raises(InputError, match=r"^rows\.jsonl, line 2: Invalid JSON"):
        read_rows(path, Named)

    path = write(tmp_path, '\ufeff{"id": "a", "size": 1}')
    assert [row.id for row in read_rows(path, Named)] == ["a"]


def test_every_wrong_line_is_told_by_its_number(tmp_path):
    path = write(tmp_path, '{"id": "a", "size": 1}', "not json", '{"id": "b"}', "[1]")

    with pytest.raises(InputError) as refused:
        read_rows(path, Named)

    told = str(refused.value).splitlines()
    assert [line.split(":")[0] for line in told] == [f"rows.jsonl, line {n}" for n in (2, 3, 4)]
    assert told[1] == "rows.jsonl, line 3: size: Field required"


def test_bytes_that_are_no_text_are_told_and_not_raised(tmp_path):
    path = write(tmp_path, '{"id": "\udcff", "size": 1}')

    with pytest.raises(InputError, match=r"rows\.jsonl, line 1: Invalid JSON: invalid unicode"):
        read_rows(path, Named)


def test_nul_characters_are_told(tmp_path):
    path = write(tmp_path, '{"id": "a\\u0000", "size": 1}')

    with pytest.raises(InputError, match="line 1: a NUL character, which no memory can hold"):
        read_rows(path, Named)


def test_problems_stop_at_twenty(tmp_path):
    path = write(tmp_path, *["wrong"] * 30)

    with pytest.raises(InputError) as refused:
        read_rows(path, Named)

    assert len(str(refused.value).splitlines()) == 21


def test_missing_and_empty_files_are_told(tmp_path):
    with pytest.raises(InputError, match="No such file"):
        read_rows(tmp_path / "none.jsonl", Named)
    with pytest.raises(InputError, match=r"rows.jsonl: no lines"):
        read_rows(write(tmp_path, ""), Named)


def test_repeated_ids_are_named(tmp_path):
    with pytest.raises(InputError, match="more than once: a, b"):
        refuse_repeated_ids(tmp_path / "f.jsonl", ["b", "a", "a", "b", "c"])
    refuse_repeated_ids(tmp_path / "f.jsonl", ["a", "b"])
