"""Benchmarks: a tiny run works, answers are checked, turns are counted exactly, results compare as ratios.

No time is asserted anywhere: how long something takes says nothing about whether it is right.
"""

import json
import sys

import numpy as np
import pytest
from conftest import ROOT, MemoryTables, slot_masks

from solver.cli import benching, group
from solver.errors import InputError, MorrisError
from solver.indexing import Indexer
from solver.moves import legal_turns, play
from solver.position import Position
from solver.reindex import exchanged
from solver.subspace import Subspace, moving_pairs, solved_together
from solver.symmetry import orbits
from solver.values import draw_code
from solver.variant import get_variant

sys.path.insert(0, str(ROOT))

from benchmarks import answers, bounds, counting, measuring, plot, results, running  # noqa: E402
from benchmarks.loading import Loader  # noqa: E402
from benchmarks.measuring import BenchmarkError, Measurement, Neighbours, Setting  # noqa: E402

NINE = get_variant("nine")


def tiny(data, **changes):
    settings = dict(
        variant=NINE, data=data, pairs=[Subspace(3, 3), Subspace(4, 3)], placing=[Subspace(3, 3, 1, 0)],
        proofs=[get_variant("four")], workers=[1, 2], repeat=2, batch=2_000, memory=1 << 22,
    )  # fmt: skip
    return Setting(**{**settings, **changes})


# ---------------------------------------------------------------- a run


def test_a_tiny_run_measures_everything_and_checks_it(tmp_path, small_tables):
    shown, path = [], tmp_path / "results.jsonl"
    records = running.run(tiny(small_tables), list(running.BENCHMARKS), path, shown.append)
    assert results.read_records(path) == json.loads(json.dumps(records))
    measured = [r for r in records if r["kind"] == "measurement"]
    assert {r["benchmark"] for r in measured} == {
        "memory", "index", "unindex", "conversions", "counts", "scan", "propagate", "pass", "tally", "load", "placing",
        "write", "read", "verify", "probe cold", "probe warm", "batch arrays", "batch texts",
        "query from the shell", "proof",
    }  # fmt: skip
    for record in measured:
        assert all(s > 0 for s in record["seconds"]) and record["checked"], record
    assert records[0]["kind"] == "machine" and records[0]["compile_s"] > 0 and records[0]["processor"]
    assert records[-1]["kind"] == "end" and records[-1]["failures"] == []
    text = "\n".join(shown)
    for part in ("speed-up", "lower bound", "propagate nine 4-3", "numba", str(path)):
        assert part in text
    found = results.latest(records)
    assert found["proof", "four", 2]["checked"] == "published: draw"
    assert found["scan", "nine 4-3", 1]["checked"] == "published counts, the kept checksum"
    assert found["write", "nine 4-3", 1]["rates"]["bits_per_position"] > 0
    assert set(plot.series(records)) == {(stage, n) for stage in plot.STAGES for n in (1, 2)}


@pytest.mark.parametrize(
    "before, now, cores",
    [
        ((10.0, 50.0, 7.0), (14.0, 57.0, 13.0), 0.25),
        ((10.0, 50.0, 7.0), (14.0, 58.0, 15.1), 0.0),  # ticks are counted coarsely
        ((10.0, 50.0, 7.0), (10.0, 50.0, 7.0), 0.0),
        (None, None, None),
    ],
)
def test_neighbours_are_what_is_busy_beside_this_process(monkeypatch, before, now, cores):
    clocks = iter([before, now])
    monkeypatch.setattr(measuring, "_clocks", lambda: next(clocks))
    assert Neighbours().cores() == cores


def test_work_of_this_process_is_not_its_neighbours(monkeypatch):
    monkeypatch.setattr(measuring, "_lines", lambda path: ["cpu  100 20 30 4000 50 6 7 80 9 10", "cpu0 1 2"])
    monkeypatch.setattr(measuring.os, "sysconf", lambda name: 100)
    _passed, busy, own = measuring._clocks()
    assert busy == 2.43 and own > 0
    monkeypatch.setattr(measuring, "_lines", lambda path: [])
    assert measuring._clocks() is None


@pytest.mark.parametrize("others, is_told", [(0.1, False), (0.3, True), (None, False)])
def test_a_busy_machine_is_told(tmp_path, small_tables, monkeypatch, others, is_told):
    shown = []
    monkeypatch.setattr(running, "machine", lambda: {"cores": 2})
    monkeypatch.setattr(Neighbours, "cores", lambda self: others)
    records = running.run(tiny(small_tables), ["memory"], tmp_path / "results.jsonl", shown.append)
    assert records[-1]["others"] == others
    assert any("something else kept 0.3 of 2 cores busy" in line for line in shown) is is_told


def test_missing_tables_are_built_for_the_occasion(tmp_path):
    shown = []
    records = running.run(
        tiny(tmp_path / "none", workers=[1], repeat=1, placing=[]), ["verify"], tmp_path / "r.jsonl", shown.append
    )
    assert results.latest(records)["verify", "nine 4-3", 1]["amounts"]["positions"] == 1_520_796
    assert shown[0].startswith("built the tables needed for the occasion in")
    assert not (tmp_path / "none").exists()


def test_a_wrong_answer_fails_its_benchmark_and_no_other(tmp_path, small_tables, monkeypatch):
    rows = [{**row, "draws": "1"} for row in answers.published_rows("subspaces_nine")]
    monkeypatch.setattr(answers, "published_rows", lambda name: rows)
    monkeypatch.setattr(running, "make_ready", lambda setting, names: {})
    path = tmp_path / "results.jsonl"
    setting = tiny(small_tables, workers=[1], repeat=1)
    with pytest.raises(
        BenchmarkError, match=r"^1 of 2 benchmarks failed: pass: 3-3: .*'draws': 269.*'draws': 1.* is published$"
    ):
        running.run(setting, ["pass", "verify"], path, lambda line: None)
    records = results.read_records(path)
    assert {r["benchmark"] for r in records if r["kind"] == "measurement"} == {"verify"}
    assert len(records[-1]["failures"]) == 1


def test_a_measurement_without_a_check_cannot_be_written():
    for arguments in (("x", "y", 1, [1.0], ""), ("x", "y", 1, [], "z"), ("x", "y", 1, [1.0], "z", {"apples": 1})):
        with pytest.raises(BenchmarkError):
            Measurement(*arguments)


# ---------------------------------------------------------------- answers


@pytest.mark.parametrize(
    "name, subspace, known",
    [
        ("nine", Subspace(4, 3), "published counts"),
        ("nine", Subspace(4, 3), "published counts, the kept checksum"),
        ("six", Subspace(4, 3), "the kept checksum"),
        ("six", Subspace(4, 3), "the finished table"),
        ("six", Subspace(4, 3), "every slot recomputed"),
    ],
)
def test_one_wrong_value_is_found_whatever_it_is_compared_with(
    name, subspace, known, small_tables, tmp_path, workers, monkeypatch
):
    variant = get_variant(name)
    if "kept" not in known:
        monkeypatch.setattr(answers, "recorded_checksums", lambda variant: {})
    if "recomputed" in known:
        monkeypatch.setattr("solver.store.SHIPPED_TABLES", tmp_path)
    solved = MemoryTables(variant, workers).solve(
        [f for f in moving_pairs(variant) if f.stones_on_board <= subspace.stones_on_board]
    )
    tables = {s: solved.values[s] for s in solved_together(variant, subspace)}
    with Loader(variant, small_tables if known == "the finished table" else tmp_path, 1) as loader:
        load = loader.load_beside(tables)
        values = tables[subspace]
        assert answers.check_values(variant, subspace, values, loader.store, load, workers) == known
        # A row that no symmetry keeps: elsewhere a slot may be one of several of a position, of which counts see one.
        row = int(np.flatnonzero(orbits(variant.board).stabilisers(subspace.own) == 1)[-1])
        slot = row * (len(values) // len(orbits(variant.board).rows(subspace.own)))
        tables[subspace] = values.copy()
        tables[subspace][slot] = 200 if values[slot] != 200 else 199
        with pytest.raises(BenchmarkError, match=subspace.name):
            answers.check_values(variant, subspace, tables[subspace], loader.store, load, workers)


# ---------------------------------------------------------------- counting turns


@pytest.mark.parametrize(
    "name, changes, pair",
    [
        ("six", {}, (3, 3)),
        ("three", {"fly_at": 3}, (3, 3)),
        ("three", {"fly_at": 3, "stones": 4}, (4, 3)),
        ("three", {"stones": 4, "capture_in_mills": "none"}, (4, 4)),
        ("three", {"fly_at": 3, "stones": 4, "capture_in_mills": "none"}, (4, 3)),
        ("three", {"fly_at": 3, "capture_in_mills": "none"}, (3, 3)),
    ],
)
def test_turns_are_counted_as_the_rules_have_them(name, changes, pair, workers):
    variant, pair = get_variant(name).with_overrides(**changes), Subspace(*pair)
    solved = MemoryTables(variant, workers).solve(
        [f for f in moving_pairs(variant) if f.stones_on_board <= pair.stones_on_board]
    )
    rows = solved.values[pair]
    cols = solved.values[pair.twin] if pair != pair.twin else exchanged(variant, *pair[:2], rows, workers)
    counted = counting.count_edges(variant, pair, rows, cols, workers)

    masks, indexer = orbits(variant.board).rows(pair.own), Indexer(variant.board)
    draw, n_columns, expected = draw_code(1), len(rows) // len(masks), [0, 0, 0]
    for rows_move, other in ((True, cols), (False, rows)):
        for x, y in zip(*(side.tolist() for side in slot_masks(variant, pair, masks))):
            own, opponent = (x, y) if rows_move else (y, x)
            position = Position(own, opponent)
            for turn in {
                t._replace(captured=-1 if t.captured is not None else None) for t in legal_turns(variant, position)
            }:
                if turn.captured == -1:
                    expected[2] += 1
                    continue
                after = play(variant, position, turn)
                sides = (after.white, after.black) if rows_move else (after.black, after.white)
                row, column = indexer.slot_of(pair, *sides, masks)
                expected[0] += 1
                expected[1] += int(other[row * n_columns + column]) != draw
    assert counted == tuple(expected)


# ---------------------------------------------------------------- results side by side


def record(benchmark, case, workers, seconds, **more):
    return {
        "kind": "measurement",
        "benchmark": benchmark,
        "case": case,
        "workers": workers,
        "seconds": seconds,
        "amounts": {},
        **more,
    }


def written(path, *records):
    path.write_text("".join(json.dumps(r) + "\n" for r in records))
    return path


def bench(capsys, *arguments):
    group.main(["bench", *map(str, arguments)], standalone_mode=False)
    return capsys.readouterr().out


def test_against_prints_ratios(tmp_path, capsys):
    old = written(
        tmp_path / "old.jsonl", {"kind": "machine", "numba": "0.61"}, record("scan", "nine 5-4", 1, [9.0]),
        record("scan", "nine 5-4", 1, [4.0, 5.0]), record("propagate", "nine 5-4", 2, [1.0]),
        record("gone", "x", 1, [1.0]),
    )  # fmt: skip
    new = written(
        tmp_path / "new.jsonl", {"kind": "machine", "numba": "0.62"}, record("scan", "nine 5-4", 1, [3.0, 2.0]),
        record("propagate", "nine 5-4", 2, [2.0]), record("added", "x", 1, [1.0]),
    )  # fmt: skip
    assert bench(capsys, "--read", new, "--against", old) == (
        "benchmark            workers  old s  new s  ratio  of medians\n"
        "scan nine 5-4              1      4      2  0.500       0.556\n"
        "propagate nine 5-4         2      1      2  2.000       2.000\n"
        "geometric mean of 2                         1.000\n"
        "not the same in both: numba (0.61 then, 0.62 now)\n"
    )


def test_speed_ups_and_bounds_come_from_the_same_run():
    records = [
        record("memory", "copy", 2, [1.0], amounts={"bytes": 1000}, min=1.0),
        record("memory", "dependent L1", 1, [1.0], amounts={"accesses": 500}, min=1.0),
        record("propagate", "nine 5-4", 1, [20.0], amounts={"must_move": 100, "accesses": 5000}),
        record("propagate", "nine 5-4", 2, [10.0], amounts={"must_move": 100, "accesses": 4000}),
    ]
    assert results.speed_ups(records).splitlines()[1].split() == ["propagate", "nine", "5-4", "2", "20", "10", "2.00"]
    # 100 bytes take 0.1 s, 4,000 accesses of two workers 4 s; one worker's bandwidth was not measured.
    assert [line.split() for line in bounds.bound_table(records).splitlines()[1:]] == [
        ["propagate", "nine", "5-4", "2", "10", "0.1", "4", "2.5"]
    ]


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--only", "speed"], "no benchmark is called 'speed'"),
        (["--pairs", "3-3+1-0"], "write pairs of the moving phase"),
        (["--pairs", "13-3"], "nine has no subspace 13-3"),
        (["--workers", "0"], "--workers 0: write numbers from 1 to 256"),
        (["--read", "{good}"], "--read alone does nothing"),
        (["--read", "{good}", "--against", "{good}", "--only", "pass", "--workers", "2"], "leave out --only, --workers"),
        (["--read", "{good}", "--against", "{good}", "--out", "{nothing}"], "leave out --out"),
        (["--read", "{good}", "--against", "{nothing}"], "no benchmark in common"),
        (["--read", "{good}", "--against", "{bad}"], "line 2 is no benchmark record"),
        (["--read", "{good}", "--against", "{good}.gone"], "No such file"),
        (["--read", "{nothing}", "--plot", "{nothing}.png"], "no pass over a pair"),
    ],
)
def test_unusable_input_is_one_line(arguments, message, tmp_path, capsys):
    files = {
        "good": written(tmp_path / "good.jsonl", record("scan", "nine 5-4", 1, [1.0])),
        "nothing": written(tmp_path / "nothing.jsonl"),
        "bad": tmp_path / "bad.jsonl",
    }
    files["bad"].write_text(json.dumps(record("scan", "nine 5-4", 1, [1.0])) + "\n[]\n")
    with pytest.raises(InputError) as caught:
        bench(capsys, *(a.format(**files) for a in arguments))
    assert message in str(caught.value) and "\n" not in str(caught.value)


def test_without_a_checkout_the_command_says_so(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(benching, "__file__", str(tmp_path / "site-packages" / "solver" / "cli" / "benching.py"))
    with pytest.raises(MorrisError, match="run this in a checkout"):
        bench(capsys)


# ---------------------------------------------------------------- the plot


def growth(*seconds):
    return [record("pass", f"nine {n}", 1, [s], amounts={"positions": 10**n}) for n, s in enumerate(seconds, 5)]


def test_the_exponent_of_growth():
    points = plot.series(growth(1.0, 10.0, 100.0))["pass", 1]
    assert plot.slope(points) == pytest.approx(1.0)
    assert plot.slope(plot.series(growth(1.0, 100.0))["pass", 1]) == pytest.approx(2.0)
    assert plot.slope(points[:1]) is None


def test_the_plot_is_drawn(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    source = written(tmp_path / "r.jsonl", *growth(1.0, 10.0, 100.0))
    out = bench(capsys, "--read", source, "--plot", tmp_path / "growth.png")
    assert "pass, 1 worker, grows as positions^1.00" in out
    assert (tmp_path / "growth.png").read_bytes().startswith(b"\x89PNG")


def test_without_matplotlib_the_command_names_the_extra(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    source = written(tmp_path / "r.jsonl", *growth(1.0, 10.0))
    with pytest.raises(InputError, match=r"pip install -e .\.\[plots\]"):
        bench(capsys, "--read", source, "--plot", tmp_path / "growth.png")


# ---------------------------------------------------------------- the documents


def test_no_figure_is_left_without_its_source():
    """Each row of the table of peers says where its figures come from, in a note that exists."""
    text = (ROOT / "benchmarks" / "peers.md").read_text(encoding="utf-8")
    marks = {
        word for line in text.splitlines() if line.startswith("|") for word in line.split() if word.startswith("[^")
    }
    defined = {line.split(":")[0] for line in text.splitlines() if line.startswith("[^")}
    assert {mark.rstrip(",.;") for mark in marks} <= defined and defined
