"""Commands that build, check and report: outputs, exit codes, and one line for whatever is wrong."""

import csv
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from types import SimpleNamespace

import click
import h5py
import published
import pytest
from conftest import ROOT, build_tables, tables_of

from solver import recheck
from solver.build import all_targets, moving_targets
from solver.cli import COMMANDS, group, main
from solver.cli.building import Bars, parse_bytes
from solver.errors import InputError
from solver.metric import DTW, OUTCOME, Metric
from solver.store import table_path
from solver.subspace import Subspace, count_canonical, moving_pairs, placing_subspaces, solved_together
from solver.tablefile import TableFile, write_tables
from solver.variant import VARIANTS, get_variant

NINE, SIX, THREE = map(get_variant, ("nine", "six", "three"))
THREE_POSITIONS = sum(count_canonical(THREE, s) for s in tables_of(THREE, moving_pairs(THREE) + placing_subspaces(THREE)))


@pytest.fixture
def morris(monkeypatch, capsys):
    """Runs a command; gives exit code, output and messages."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["morris", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            main()
        out, err = capsys.readouterr()
        assert "Traceback" not in err and "internal error" not in err
        return SimpleNamespace(code=stop.value.code, out=out, err=err)

    return run


def is_one_line(err):
    return err.startswith("morris: ") and err.endswith("\n") and err.count("\n") == 1 and len(err) < 1000


def test_the_time_left_is_the_estimate_until_enough_has_been_done_to_tell(capsys, monkeypatch):
    clock = iter((100, 130, 150))
    monkeypatch.setattr("solver.cli.building.time.monotonic", lambda: next(clock))
    bars = Bars([Subspace(3, 3), Subspace(4, 3)], 10_000, 600)
    bars.done(Subspace(3, 3), 50, 12)  # with compiling: says nothing about the rest
    bars.done(Subspace(4, 3), 4_950, 20)
    first, second = capsys.readouterr().err.splitlines()
    assert first == "1/2 3-3: 50 positions in 12.0 s, 0% done, 9:57 min left"
    assert second == "2/2 4-3: 4,950 positions in 20.0 s, 50% done, 0:30 min left"


@pytest.fixture
def copied(small_tables, tmp_path):
    """A data folder of one's own with some files of nine."""

    def copy(*names):
        (tmp_path / "nine").mkdir(exist_ok=True)
        for name in names:
            shutil.copy(small_tables / "nine" / f"{name}.h5", tmp_path / "nine")
        return tmp_path

    return copy


# ---------------------------------------------------------------- build and solve


def test_build_builds_what_is_missing_and_says_so(morris, tmp_path):
    done = morris("build", "-V", "three", "--phase", "placing", "--data", tmp_path, "--jobs", 2)
    assert done.code == 0 and done.out == ""
    lines = [line for line in done.err.splitlines() if "compiling" not in line]
    assert re.match(rf"three: 7 files, {THREE_POSITIONS:,} positions; about 0:00 min with 2 workers, [\d.]+ GiB of memory \([\d.]+ if", lines[0])
    assert re.fullmatch(r"1/7 3-3: 228 positions in .* s, \d+% done, \d:\d\d min left", lines[1])
    assert len(lines) == 9 and lines[-1].startswith("built in ")
    assert len(list((tmp_path / "three").glob("*.h5"))) == 7
    again = morris("build", "-V", "three", "--phase", "placing", "--data", tmp_path)
    assert (again.code, again.out, again.err) == (0, "", "three: all tables asked for are there\n")


def test_solve_prints_the_verdict(morris, tmp_path):
    done = morris("solve", "--all", "-V", "three", "--data", tmp_path)
    lines = done.out.splitlines()
    verdict = lines.index("The empty board of three is a win.")
    assert done.code == 0
    assert lines[0] == "moving phase" and lines[1].split()[:2] == ["own", "opponent"] and lines[verdict - 1].split()[0] == "all"
    placing = lines.index("placing phase")
    assert "336" in lines[verdict - 1] and lines[placing - 1].split() == ["all", "130", "41", "57"]
    assert lines[-1].startswith("The empty board of three is a win for White")  # the proof agrees


def test_solve_stops_after_so_many_stones(morris, tmp_path):
    assert morris("solve", "-V", "six", "--max-stones", 7, "--data", tmp_path).code == 0
    assert sorted(path.name for path in (tmp_path / "six").glob("*.h5")) == ["3-3.h5", "4-3.h5"]


def test_solve_builds_one_pair_and_what_it_needs(morris, tmp_path):
    done = morris("solve", "-V", "six", "--subspace", "3-5", "--data", tmp_path)
    assert done.code == 0 and "table probes" not in done.out  # no proof is asked for
    assert sorted(path.name for path in (tmp_path / "six").glob("*.h5")) == ["3-3.h5", "4-3.h5", "5-3.h5"]


def test_the_data_folder_comes_from_the_environment(morris, tmp_path, monkeypatch):
    monkeypatch.setenv("MORRIS_DATA", str(tmp_path))
    assert morris("build", "-V", "three").code == 0
    assert (tmp_path / "three" / "3-3.h5").exists()


def test_too_little_memory_is_one_line(morris, tmp_path):
    done = morris("build", "--data", tmp_path, "--memory", "100M")
    assert done.code == 1 and is_one_line(done.err.splitlines(keepends=True)[-1])
    assert "GiB of memory are needed where 0.1 GiB are allowed" in done.err
    assert not list((tmp_path / "nine").glob("*.h5"))


def test_a_rule_as_long_as_a_book_is_one_line(morris):
    done = morris("info", "--set", "stones=" + "9" * 5000)  # Python itself reads no such number
    assert done.code == 2 and is_one_line(done.err) and "too many for a rule" in done.err


@pytest.mark.parametrize("text, expected", [("8G", 8 << 30), ("900M", 900 << 20), ("1.5g", 3 << 29), ("4096", 4096), ("2T", 2 << 40), ("1k", 1024)])
def test_sizes(text, expected):
    assert parse_bytes(text) == expected and parse_bytes(None) is None


@pytest.mark.parametrize("text", ["", "G", "-1G", "0", "8X", "8GB", "eight", "nan", "infG", "1e400", "8 G G", "٨G" * 2])
def test_sizes_that_are_none(text):
    with pytest.raises(InputError, match="--memory"):
        parse_bytes(text)


def test_an_interrupted_build_says_how_to_go_on(tmp_path):
    command = [sys.executable, "-c", "from solver.cli import main; main()", "build", "--data", tmp_path, "--max-stones", "10", "--jobs", "1"]
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True)
    for line in process.stderr:
        if line.startswith("2/"):
            process.send_signal(signal.SIGINT)
            break
    rest = process.stderr.read().splitlines()
    assert process.wait() == 130
    assert rest[-1] == "morris: interrupted; finished tables are kept, the same command goes on where it stopped"
    assert not list((tmp_path / "nine").glob("*.unfinished"))


# ---------------------------------------------------------------- verify and check


def test_verify_passes_right_tables(morris, small_tables):
    done = morris("verify", "--data", small_tables, "--subspace", "4-3", "--jobs", 1)
    assert done.code == 0
    assert done.out.startswith(f"nine: {2 * 757 * 1140:,} slots in 2 tables verified in ")
    assert f"4-3: {757 * 1140:,} slots right\n" in done.err
    six = morris("verify", "-V", "six", "--data", small_tables)
    assert six.code == 0 and f" slots in {len(tables_of(SIX, moving_pairs(SIX) + placing_subspaces(SIX)))} tables verified" in six.out


def test_an_interrupted_verification_goes_on_where_it_stopped(morris, small_tables, monkeypatch):
    options = ("verify", "-V", "six", "--data", small_tables, "--phase", "moving", "--jobs", "1")
    whole = morris(*options)
    names = re.findall(r"^(\S+): [\d,]+ slots right$", whole.err, re.MULTILINE)
    assert len(names) == 16 and names[-3:] == ["6-5", "5-6", "6-6"]
    verify_file = recheck.verify_file

    def stops_at_five_four(builder, file):
        if file.name == "5-4":
            raise KeyboardInterrupt
        return verify_file(builder, file)

    with monkeypatch.context() as patch:
        patch.setattr(recheck, "verify_file", stops_at_five_four)
        stopped = morris(*options)
    assert stopped.code == 130
    assert stopped.err.splitlines()[-1] == "morris: interrupted; the same command with --from 5-4 goes on where it stopped"
    rest = morris(*options, "--from", "5-4")
    assert rest.code == 0
    assert re.findall(r"^(\S+): [\d,]+ slots right$", rest.err, re.MULTILINE) == names[names.index("5-4") :]
    twin = morris(*options, "--from", "5-6")  # stands in one file with 6-5
    assert " slots in 3 tables verified in " in twin.out


def test_verify_names_the_first_wrong_slot(morris, copied):
    folder = copied("3-3", "4-3")
    path = folder / "nine" / "4-3.h5"
    file = TableFile(path, NINE)
    tables = {s: t.read() for s, t in file.tables.items()}
    tallies = {s: (t.histogram(), t.histogram(raw=True)) for s, t in file.tables.items()}
    rows = file.row_masks
    file.close()
    slot = 321 * 1140 + 77
    tables[Subspace(4, 3)][slot] ^= 0x81
    write_tables(path, NINE, rows, tables, tallies)
    checked = morris("check", "--data", folder)
    assert checked.code == 4 and "the values of 4-3 are whole but not those on record" in checked.err
    done = morris("verify", "--data", folder, "--subspace", "3-4")
    assert done.code == 4 and is_one_line(done.err.splitlines(keepends=True)[-1])
    found = re.search(r"([\d,]+) of 862,980 slots of 4-3 are wrong; the first is slot (\d+), own stones ([a-g1-7 ]+), opponent ([a-g1-7 ]+)", done.err)
    assert found and str(path) in done.err
    assert int(found[2]) <= slot and len(found[3].split()) == 4 and len(found[4].split()) == 3


@pytest.mark.parametrize("metric", [DTW, OUTCOME], ids=str)
def test_verify_tells_a_wrong_tally_from_wrong_slots(morris, tmp_path, metric):
    """Of depths, and of outcomes whose depths are found once more."""
    build_tables(tmp_path, THREE, [Subspace(3, 3)], metric=metric)
    path = table_path(tmp_path, THREE, Subspace(3, 3), metric)
    file = TableFile(path, THREE, metric)
    tables = {s: t.read() for s, t in file.tables.items()}
    tallies = {s: (t.histogram(), t.histogram(raw=True)) for s, t in file.tables.items()}
    rows = file.row_masks
    file.close()
    counts = tallies[Subspace(3, 3)][1]
    there = counts.nonzero()[0]
    counts[there[0]] -= 1
    counts[there[-1]] += 1
    write_tables(path, THREE, rows, tables, tallies, metric=metric)
    done = morris("verify", "-V", "three", "--data", tmp_path, "--metric", metric.name, "--subspace", "3-3")
    assert done.code == 4 and done.out == ""
    assert done.err == (
        f"morris: {path}: all {len(tables[Subspace(3, 3)]):,} slots of 3-3 are right, but their tally is not; "
        "delete it and build it again\n"
    )


def test_verify_tells_depths_that_leave_no_room_from_wrong_slots(morris, small_tables, monkeypatch):
    """As if one byte held depths up to 3 only: all slots are right, and what leads there would not fit."""
    monkeypatch.setattr(Metric, "max_depth", lambda metric, width: 3)
    done = morris("verify", "--data", small_tables, "--subspace", "3-3", "--jobs", 1)
    path = small_tables / "nine" / "3-3.h5"
    assert done.code == 4 and done.out == "" and done.err == (
        f"morris: {path}: all {158 * 1330:,} slots of 3-3 are right, but the depths leave no room in 8 bits "
        "for those of the positions that lead there; delete it and build it again\n"
    )


def test_verify_takes_the_tables_that_come_with_morris(morris, tmp_path):
    done = morris("verify", "-V", "four", "--data", tmp_path, "--jobs", 1)
    tables = tables_of(get_variant("four"), all_targets(get_variant("four")))
    assert done.code == 0 and f" slots in {len(tables)} tables verified in " in done.out
    assert list(tmp_path.iterdir()) == []


def test_check_passes_whole_files(morris, small_tables):
    done = morris("check", "--data", small_tables)
    assert done.code == 0 and re.fullmatch(r"nine: 4 files, [\d.]+ MB, all as they were written; the values of 6 tables are those on record\n", done.out)
    assert morris("check", "--data", small_tables, "-V", "six").out.startswith("six: 71 files, ")
    assert morris("check", "--data", small_tables, "--subspace", "3-4").out.startswith("nine: 1 files, ")


def test_check_names_every_damaged_file(morris, copied):
    folder = copied("3-3", "4-3", "4-4")
    with h5py.File(folder / "nine" / "4-4.h5", "r", locking=False) as file:
        chunk = file["4-4/values"].id.get_chunk_info(0)
    for name, at in (("3-3", -1), ("4-4", chunk.byte_offset + chunk.size // 2)):
        path = folder / "nine" / f"{name}.h5"
        content = bytearray(path.read_bytes())
        content[at] ^= 255
        path.write_bytes(content)
    done = morris("check", "--data", folder)
    assert done.code == 4 and done.out == "" and is_one_line(done.err)
    assert "3-3.h5" in done.err and "4-4.h5" in done.err and "4-3.h5" not in done.err
    assert "chunk 0 of 4-4 " in done.err


@pytest.mark.parametrize("command", ["check", "verify", "stats"])
def test_a_table_of_other_rules_is_refused(morris, copied, command):
    folder = copied("3-3")
    (folder / "nine").rename(folder / "nine-nofly")
    done = morris(command, "-V", "nine-nofly", "--data", folder)
    assert done.code == 4 and is_one_line(done.err) and "made for the rules of nine, not of nine-nofly" in done.err


# ---------------------------------------------------------------- stats, info, variants


def test_stats_as_csv_has_the_published_lines(morris, small_tables):
    done = morris("stats", "--format", "csv", "--data", small_tables)
    lines = done.out.splitlines()
    known = (published.FOLDER / "subspaces_nine.csv").read_text().splitlines()
    assert done.code == 0 and done.err == ""
    assert lines[0] == known[0] and len(lines) == 7 and set(lines) <= set(known)


def test_stats_of_placing_subspaces(morris, small_tables):
    done = morris("stats", "-V", "six", "--phase", "placing", "--format", "csv", "--data", small_tables)
    header = (published.FOLDER / "placement_nine.csv").read_text().splitlines()[0]
    assert done.code == 0 and done.out.splitlines()[0] == header
    rows = list(csv.DictReader(done.out.splitlines()))
    assert len(rows) == len(placing_subspaces(SIX))
    first = next(row for row in rows if row["own_hand"] == row["opponent_hand"] == "6")
    assert (first["canonical_positions"], first["draws"], first["wins"]) == ("1", "1", "0")
    for row in rows:
        assert int(row["canonical_positions"]) == sum(int(row[key]) for key in ("wins", "losses", "draws"))


def test_stats_as_json_and_table(morris, small_tables):
    rows = json.loads(morris("stats", "--format", "json", "--subspace", "4-3", "--data", small_tables).out)
    assert [(row["own"], row["opponent"]) for row in rows] == [(4, 3), (3, 4)]
    assert rows[1] == {"own": 3, "opponent": 4, "wins": 102281, "losses": 0, "draws": 658117, "longest_win_plies": 33, "longest_loss_plies": None}
    table = morris("stats", "--subspace", "3-3", "--data", small_tables).out.splitlines()
    assert table[0].split() == ["own", "opponent", "wins", "losses", "draws", "longest_win_plies", "longest_loss_plies"]
    assert table[1].split() == ["3", "3", "140,621", "28,736", "269", "25", "26"]
    assert len({len(line) for line in table}) == 1  # columns stand under each other


def test_stats_without_symmetry(morris, small_tables):
    row = json.loads(morris("stats", "--raw", "--format", "json", "--subspace", "3-3", "--data", small_tables).out)[0]
    assert (row["wins"], row["draws"], row["losses"]) == (2_232_160, 4_112, 455_648)


def test_info(morris, small_tables):
    done = morris("info", "--data", small_tables)
    assert done.code == 0 and NINE.fingerprint in done.out and str(small_tables) in done.out
    assert re.search(r"^moving +4 of 28 files, [\d.]+ MB, ", done.out, re.M)
    assert re.search(r"^ +missing +5-4 6-3 .* and 16 more$", done.out, re.M)
    assert re.search(r"^machine .*Python", done.out, re.M)
    six = morris("info", "-V", "six", "--data", small_tables).out
    assert re.search(r"^placing +61 of 61 files, [\d.]+ MB, 1,895,913 positions$", six, re.M) and "missing" not in six


def test_info_says_how_many_tables_are_shipped(morris, tmp_path):
    whole = morris("info", "-V", "three", "--data", tmp_path).out
    shipped = r"^(\w+) +(\d+) of \2 files, .*\n +shipped +(\d+) of these files come with morris$"
    assert re.findall(shipped, whole, re.M) == [("moving", "1", "1"), ("placing", "6", "6")]
    build_tables(tmp_path, THREE, [Subspace(3, 3)])
    mixed = morris("info", "-V", "three", "--data", tmp_path).out
    assert re.findall(r"^ +shipped +(\d+) of these files come with morris$", mixed, re.M) == ["6"]


def test_info_of_nothing(morris, tmp_path):
    done = morris("info", "--data", tmp_path / "nowhere")
    assert done.code == 0 and "0 of 28 files" in done.out
    assert not (tmp_path / "nowhere").exists()


def test_variants(morris):
    done = morris("variants")
    assert done.code == 0
    assert [line.split()[0] for line in done.out.splitlines() if not line.startswith(" ")] == [*VARIANTS, "Times"]
    assert "8,904,593,601 positions moving" in done.out and "17,838,514,173 positions placing" in done.out
    assert done.out.count("empty board: ") == len(VARIANTS)


def test_variants_as_json(morris):
    found = {row["variant"]: row for row in map(json.loads, morris("variants", "--json", "-j", "1").out.splitlines())}
    assert list(found) == list(VARIANTS)
    assert found["six"]["moving"]["positions"] == sum(
        count_canonical(get_variant("six"), s) for f in moving_pairs(get_variant("six")) for s in solved_together(get_variant("six"), f)
    )
    fewer = {row["variant"]: row for row in map(json.loads, morris("variants", "--json", "-j", "4").out.splitlines())}
    for name, row in found.items():
        assert row["empty_board"] == get_variant(name).known
        assert row["placing"]["bytes"] > 0
        assert abs(row["moving"]["seconds"] - 4 * fewer[name]["moving"]["seconds"]) <= 2


def test_doctor_is_troubled_by_what_is_still_to_build_alone(morris, small_tables, monkeypatch):
    monkeypatch.setattr("solver.build.available_memory", lambda: 1 << 20)
    monkeypatch.setattr("shutil.disk_usage", lambda path: SimpleNamespace(free=1 << 20))
    troubles = morris("doctor", "--data", small_tables).out
    assert re.search(r"^trouble +what is missing of nine's moving phase needs [\d.]+ GiB of memory$", troubles, re.M)
    assert re.search(r"^trouble +what is missing of nine's moving phase needs [\d.]+ GB of disk$", troubles, re.M)
    monkeypatch.setattr("solver.build.moving_targets", lambda variant: moving_targets(variant, 8))
    assert "moving phase needs" not in morris("doctor", "--data", small_tables).out  # all of these are there


# ---------------------------------------------------------------- what is wrong


@pytest.mark.parametrize(
    "arguments",
    [
        ("build", "-V", "Nine"),
        ("build", "-V", ""),
        ("build", "--subspace", "12-3"),
        ("build", "--subspace", "5"),
        ("build", "--max-stones", "3"),
        ("build", "--max-stones", "many"),
        ("build", "--jobs", "0"),
        ("build", "--memory", "lots"),
        ("build", "--phase", "sleeping"),
        ("build", "extra"),
        ("solve", "--nonsense"),
        ("verify", "--subspace", "1-1"),
        ("verify",),
        ("verify", "-V", "six", "--from", "5-4", "--subspace", "5-4"),
        ("verify", "-V", "six", "--phase", "moving", "--from", "5-4+1-0"),
        ("check",),
        ("check", "--subspace", "x" * 5000),
        ("stats", "--format", "xml"),
        ("stats", "--subspace", "9-9+1-1"),
        ("info", "-V", "nine\nten"),
        ("destroy",),
        ("--nonsense",),
    ],
    ids=lambda arguments: " ".join(arguments)[:30],
)
def test_unusable_input_is_one_line_and_exit_code_2(morris, tmp_path, monkeypatch, arguments):
    monkeypatch.setenv("MORRIS_DATA", str(tmp_path))
    done = morris(*arguments)
    assert done.code == 2 and done.out == "" and is_one_line(done.err)


@pytest.mark.parametrize(
    "position",
    [
        "WWWWWWWW/WW....../........ w 0,0",
        "WWW...../BBB...../........ w 3,1",
        "WWW...../BBB...../....... w 0,0",
        "",
        " ",
        "X......./WWW...../BBB..... w 0,0",
        "W" * 5000,
        "XXXXXXXX/XXXXXXXX/XXXXXXXX w 0,0",
        "d4",
        "WWW...../BBB...../........ q 0,0",
        "\x00",
    ],
    ids=lambda position: repr(position)[:20],
)
def test_positions_that_make_no_sense(morris, small_tables, position):
    done = morris("query", "--data", small_tables, position)
    assert done.code == 2 and done.out == "" and is_one_line(done.err)


@pytest.mark.parametrize("moves", ["d4", "d6 d6", "d6 f4 b4 z9", "d6-d5", "d6xf4", "a1 " * 2000, "\x00"], ids=lambda moves: repr(moves)[:20])
def test_moves_that_make_no_sense(morris, small_tables, moves):
    done = morris("query", "--data", small_tables, "--moves", moves)
    assert done.code == 2 and done.out == "" and is_one_line(done.err)


@pytest.mark.parametrize(
    "arguments",
    [("stats",), ("stats", "--subspace", "9-9"), ("stats", "--phase", "placing"), ("verify", "--subspace", "5-4"), ("check", "--subspace", "5-4")],
    ids=" ".join,
)
def test_a_missing_table_is_exit_code_3(morris, tmp_path, arguments):
    done = morris(*arguments, "--data", tmp_path)
    assert done.code == 3 and done.out == "" and is_one_line(done.err)
    assert "nine" in done.err and "morris build" in done.err


@pytest.mark.parametrize(
    "command, game, tables",
    [
        ("stats", "-V ten", ""),
        ("stats", "", "--phase placing"),
        ("stats", "-V six --no-mill-limit 50", ""),
        ("stats", "--set stones=8 --set place_and_slide=true", "--subspace 4-3+1-0"),
        ("check", "-V nine-strict --metric outcome", ""),
        ("verify", "-V lasker", "--phase placing"),
        ("query 'WWW...../BBB...../........ w 0,0'", "--set capture_in_mills=none --set stones=8", "--subspace 3-3"),
    ],
)
def test_the_command_that_makes_missing_tables_makes_those(morris, tmp_path, monkeypatch, command, game, tables):
    folder = tmp_path / "a folder"
    words = shlex.split(f"{command} {game}") + ["--data", folder]
    error = morris(*words, *([] if command.startswith("query") else tables.split())).err  # a position says which by itself
    asked = []
    monkeypatch.setattr("solver.cli.building.run_build", lambda **options: asked.append(options))
    assert morris(*shlex.split(re.search(r"'(morris build .*)' makes", error)[1])[1:]).code == 0
    assert morris(*shlex.split(f"build {game} {tables}"), "--data", folder).code == 0
    hinted, meant = asked
    assert hinted == meant and hinted["data"] == folder


def test_tables_that_no_command_makes_are_not_recommended(morris, tmp_path):
    for arguments, reason in (
        (("stats", "--phase", "placing", "--no-mill-limit", 50), "moving phase"),
        (("stats", "--subspace", "3-3+1-1", "--metric", "dtm"), "moving phase"),
        (("verify", "--phase", "placing", "--metric", "dtm"), "moving phase"),
        (("check", "-V", "nine-strict", "--metric", "dtm"), "may remove nothing"),
    ):
        done = morris(*arguments, "--data", tmp_path)
        assert done.code == 2 and is_one_line(done.err) and reason in done.err


def test_a_folder_that_cannot_be_written_is_exit_code_2(morris, tmp_path):
    (tmp_path / "file").write_text("in the way")
    done = morris("build", "--data", tmp_path / "file")
    assert done.code == 2 and is_one_line(done.err) and "cannot write" in done.err
    assert (tmp_path / "file").read_text() == "in the way"


def test_a_build_elsewhere_is_exit_code_1(morris, tmp_path):
    from solver.build import build_lock

    with build_lock(tmp_path / "three"):
        done = morris("build", "-V", "three", "--data", tmp_path)
    assert done.code == 1 and f"another build (process {os.getpid()})" in done.err.splitlines()[-1]


# ---------------------------------------------------------------- what options ask for


@pytest.mark.parametrize(
    "arguments, reason",
    [
        (("--phase", "placing", "--max-stones", 8), "--max-stones is for the moving phase alone"),
        (("--subspace", "5-4", "--max-stones", 8), "leave out --phase, --all and --max-stones"),
        (("--subspace", "5-4", "--phase", "placing"), "leave out --phase, --all and --max-stones"),
        (("--subspace", "5-4", "--phase", "moving"), "leave out --phase, --all and --max-stones"),
        (("--subspace", ""), "is no subspace"),
    ],
    ids=str,
)
@pytest.mark.parametrize("command", [("build",), ("build", "--estimate"), ("solve",)], ids=" ".join)
def test_options_that_exclude_each_other_are_one_line(morris, tmp_path, command, arguments, reason):
    done = morris(*command, *arguments, "--data", tmp_path)
    assert (done.code, done.out) == (2, "") and is_one_line(done.err) and reason in done.err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "arguments, reason",
    [
        (("solve", "--all", "--max-stones", 8), "--max-stones is for the moving phase alone"),
        (("solve", "--all", "--subspace", "5-4"), "leave out --phase, --all and --max-stones"),
        (("solve", "--all", "--phase", "moving"), "leave out one of --all and --phase moving"),
        (("build", "--estimate", "--memory", "8G"), "--estimate builds nothing"),
        (("build", "--estimate", "--scheduler", "tcp://host:8786"), "--estimate builds nothing"),
        (("build", "--estimate", "--metric", "dtm", "--phase", "placing"), "belong to the moving phase"),
        (("build", "--estimate", "--metric", "dtm", "--subspace", "3-3+1-1"), "belong to the moving phase"),
    ],
    ids=str,
)
def test_options_without_a_meaning_there_are_one_line(morris, tmp_path, arguments, reason):
    done = morris(*arguments, "--data", tmp_path)
    assert (done.code, done.out) == (2, "") and is_one_line(done.err) and reason in done.err
    assert not list(tmp_path.iterdir())


def test_the_estimate_is_of_what_the_options_ask_for(morris, tmp_path, small_tables):
    def files(*options, data=tmp_path):
        text = morris("build", "-V", "six", "--estimate", "--data", data, *options).out
        return re.search(r"positions in ([\d,]+ of [\d,]+) files", text)[1]

    every, moving = len(all_targets(SIX)), len(moving_pairs(SIX))
    assert files() == files("--phase", "placing") == f"{every} of {every}"
    assert files("--phase", "moving") == files("--metric", "dtm") == f"{moving} of {moving}"
    assert files("--max-stones", 7) == files("--subspace", "3-4") == "2 of 2"
    assert not list(tmp_path.iterdir())
    (tmp_path / "six").mkdir()
    shutil.copy(small_tables / "six" / "3-3.h5", tmp_path / "six")
    assert files("--max-stones", 7) == files("--subspace", "4-3") == "1 of 2"
    assert morris("build", "-V", "six", "--subspace", "3-3", "--estimate", "--data", tmp_path).out.endswith("all 1 files are there\n")


@pytest.mark.parametrize("size, allowed", [("400M", 400 << 20), ("3G", 1 << 30), (None, 1 << 30)], ids=str)
def test_the_proof_after_solving_takes_no_more_than_was_allowed(morris, tmp_path, monkeypatch, size, allowed):
    asked = []
    monkeypatch.setattr("solver.cli.proving.print_proof", lambda *arguments, **more: asked.append(arguments[4]))
    done = morris("solve", "-V", "three", "--data", tmp_path, *(("--memory", size) if size else ()))
    assert (done.code, asked) == (0, [allowed])


# ---------------------------------------------------------------- outcomes alone


@pytest.fixture(scope="module")
def three_outcomes(tmp_path_factory):
    """Outcomes of the whole game of three."""
    folder = tmp_path_factory.mktemp("three")
    build_tables(folder, THREE, all_targets(THREE), metric=OUTCOME)
    return folder


def test_solve_by_outcomes_proves_the_empty_board(morris, tmp_path):
    done = morris("solve", "-V", "four", "--metric", "outcome", "--data", tmp_path, "--jobs", 1)
    assert done.code == 0, done.err
    assert "four.outcome: 3 files, " in done.err and sorted(p.name for p in tmp_path.iterdir()) == ["four.outcome"]
    assert "The empty board of four is a draw" in done.out and "moving-phase subspaces needed" in done.out
    rows = [line.split() for line in done.out.splitlines() if re.match(r" *[34] +[34] ", line)]
    assert len(rows) == 4 and all(len(row) == 5 for row in rows)  # no depths
    again = morris("build", "-V", "four", "--metric", "outcome", "--data", tmp_path)
    assert again.code == 0 and "four.outcome: all tables asked for are there" in again.err


def test_commands_read_outcomes_when_told(morris, three_outcomes):
    options = "-V", "three", "--metric", "outcome", "--data", three_outcomes
    verified = morris("verify", *options, "--jobs", 1)
    assert verified.code == 0 and re.match(r"three.outcome: [\d,]+ slots in 7 tables verified", verified.out)
    assert morris("check", *options).out.startswith("three.outcome: 7 files, ")
    info = morris("info", *options).out
    assert "metric       outcome\n" in info and re.search(r"^moving +1 of 1 files", info, re.M) and "missing" not in info
    row = json.loads(morris("stats", *options, "--format", "json").out)[0]
    assert row["wins"] + row["losses"] + row["draws"] == count_canonical(THREE, Subspace(3, 3))
    assert row["longest_win_plies"] is row["longest_loss_plies"] is None
    assert morris("build", *options, "--estimate").out.endswith("files are there\n")


def test_a_table_of_another_metric_is_exit_code_4(morris, three_outcomes, tmp_path):
    shutil.copytree(three_outcomes / "three.outcome", tmp_path / "three")
    for command in ("check", "verify", "stats"):
        done = morris(command, "-V", "three", "--data", tmp_path)
        assert done.code == 4 and "metric outcome, not dtw" in done.err
    missing = morris("stats", "-V", "three", "--metric", "outcome", "--data", tmp_path)
    assert missing.code == 3 and "no moving tables of three.outcome" in missing.err


def test_the_estimate_tells_the_disk_of_the_metric(morris, tmp_path):
    deep, alone = (
        morris("build", "-V", "lasker-nine", "--estimate", "--data", tmp_path, "-j", 2, *more).out
        for more in ((), ("--metric", "outcome"))
    )
    assert re.search("disk, depths +outcomes only", deep) and "disk, outcomes" in alone and "disk, depths" not in alone
    disk = [re.search(r"^all .*GiB +([\d.]+) GB", text, re.M)[1] for text in (deep, alone)]
    assert float(disk[0]) / float(disk[1]) == pytest.approx(3.1 / 0.65, rel=0.02)


# ---------------------------------------------------------------- depths to the next mill


def test_commands_of_depths_to_the_next_mill(morris, tmp_path):
    options = "-V", "three", "--no-mill-limit", 4, "--data", tmp_path
    done = morris("solve", *options, "--jobs", 1)
    assert done.code == 0 and "three.dtm4: 1 files, " in done.err and "empty board" not in done.out
    assert [p.name for p in tmp_path.iterdir()] == ["three.dtm4"]
    assert "3         3" in done.out and "longest_win_plies" in done.out
    verified = morris("verify", *options, "--jobs", 1)
    assert verified.code == 0 and re.match(r"three.dtm4: [\d,]+ slots in 1 tables verified", verified.out)
    assert morris("check", *options).out.startswith("three.dtm4: 1 files, ")
    info = morris("info", *options).out
    assert "metric       dtm4\n" in info and "placing" not in info
    row = json.loads(morris("stats", *options, "--format", "json").out)[0]
    assert 0 < row["longest_win_plies"] <= 4
    assert "Depths to a mill take two passes" in morris("build", "-V", "nine", "--metric", "dtm", "--estimate", "--data", tmp_path).out


def test_depths_to_the_next_mill_are_refused_where_there_are_none(morris, tmp_path):
    for more, reason in (
        (("-V", "nine-strict"), "may remove nothing"), (("--phase", "placing"), "moving phase"),
        (("--subspace", "3-3+1-1"), "moving phase"), (("--metric", "outcome"), "belongs to the metric dtm"),
    ):  # fmt: skip
        done = morris("build", "--no-mill-limit", 50, "--data", tmp_path, *more)
        assert done.code == 2 and is_one_line(done.err) and reason in done.err
    assert not list(tmp_path.iterdir())


# ---------------------------------------------------------------- help


def test_morris_alone_shows_help(morris):
    done = morris()
    assert all(re.search(rf"^  {name} ", done.out + done.err, re.M) for name in COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_an_example(name):
    command = group.get_command(click.Context(group), name)
    text = command.get_help(click.Context(command, info_name=f"morris {name}"))
    assert re.search(rf"^ +morris {name}\b(?! \[)", text.split("Options:")[0], re.M), text
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert parameter.help or isinstance(parameter.type, click.Choice) or parameter.is_flag, parameter.name


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_in_the_readme(name):
    assert f"morris {name}" in (ROOT / "README.md").read_text()


def test_help_and_version(morris):
    assert all(name in morris("--help").out for name in COMMANDS)
    assert re.fullmatch(r"morris \d+\.\d+\.\d+\n", morris("--version").out)
