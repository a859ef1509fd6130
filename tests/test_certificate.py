"""Certificates that hold pass the separate check; nothing that has been taken out, put in or changed does."""

import _thread
import hashlib
import importlib.util
import json
import re
import shutil
import subprocess
import sys
import threading

import h5py
import numpy as np
import pytest
from conftest import ROOT, build_tables, copy_outcomes

from solver.attributes import write_attributes
from solver.build import moving_targets
from solver.certificate import FORMAT, write_certificate
from solver.errors import InputError
from solver.jit import JIT_DISABLED
from solver.moves import legal_turns, play
from solver.position import Position, format_own_form, parse_own_form, start
from solver.search import BUCKET, Proof, Prover
from solver.store import TableStore
from solver.subspace import solved_together
from solver.tablefile import write_tables
from solver.values import draw_code
from solver.variant import get_variant

pytestmark = pytest.mark.skipif(JIT_DISABLED, reason="searches and checks some ten thousand positions")

SCRIPT = ROOT / "scripts" / "check_certificate.py"
SIX = get_variant("six")
#: Positions of six by White's outcome, either side to move.
DECIDED = {
    "win": ["....W.../.W..BB.. w 4,4", ".B.....B/W..WW... b 3,4", ".W.WW.WB/..BBWBB. b 0,1"],
    "loss": ["....W.../..B.B.WW b 3,4", "...B.W../....BWWB w 3,3", "W....B.B/.BWWBW.. w 2,2"],
}


@pytest.fixture(scope="module")
def checker():
    """The script as a module; compiled once for all tests."""
    spec = importlib.util.spec_from_file_location("check_certificate", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def check(checker, capsys, tables):
    """Runs the check; gives its exit code and what it said last, on either stream."""

    def run(path, data=tables):
        code = checker.main([str(path), "--data", str(data), "-j", "1"])
        output, errors = capsys.readouterr()
        assert errors.count("\n") == (code != 0), errors
        return code, errors.strip() if code else output.splitlines()[-1]

    return run


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """Folder with the moving-phase tables of some games.  Only for reading; who changes a file copies it."""
    return tmp_path_factory.mktemp("tables")


@pytest.fixture(scope="module")
def certify(tables, workers):
    """Proves a position and writes its certificate."""

    def run(path, variant, position):
        build_tables(tables, variant, moving_targets(variant))
        store = TableStore(tables, variant)
        prover = Prover(variant, store, workers, 1 << 22)
        proof = prover.prove(position)
        write_certificate(path, prover, position, proof)
        store.close()
        return proof

    return run


@pytest.fixture(scope="module")
def six(tmp_path_factory, certify):
    """The certificate of six.  Only for reading."""
    path = tmp_path_factory.mktemp("certificate") / "six.h5"
    certify(path, SIX, start(SIX))
    assert b"GCOL" not in path.read_bytes()  # nothing in the global heap, which HDF5 does not check
    return path


@pytest.fixture
def tampered(six, tmp_path):
    """Changes a copy of the certificate: ``change(file)``, digests written anew afterwards if asked."""

    def run(change, new_digest):
        path = tmp_path / "tampered.h5"
        shutil.copy(six, path)
        with h5py.File(path, "r+") as file:
            change(file)
            for group in file.values() if new_digest else ():
                write_attributes(group, {"sha256": digest_of(group)})
        return path

    return run


def digest_of(group):
    digest = hashlib.sha256()
    for level in sorted(group, reverse=True):
        for name in sorted(group[level]):  # positions before turns
            digest.update(group[level][name][()].tobytes())
    return digest.hexdigest()


def rewrite(group, name, values):
    del group[name]
    group[name] = values


def position_of(key, hands, variant=SIX):
    """The position of an entry, read with the solver's own means."""
    key, mask = int(key), (1 << 24) - 1
    return Position(key & mask, key >> 24, hands % 2 == 0, hands // 2, hands - hands // 2)


def levels(path):
    with h5py.File(path, "r", locking=False) as file:
        return [(side, level) for side in file for level in file[side]]


# ---------------------------------------------------------------- what holds


def test_the_certificate_of_six_passes(check, six):
    assert check(six) == (0, "Proved: ......../........ w 6,6 of six is a draw.")


def test_the_script_stands_alone(six, tables):
    """It runs by itself from anywhere, and takes nothing from the solver."""
    command = [sys.executable, str(SCRIPT), str(six), "--data", str(tables)]
    done = subprocess.run(command, cwd=six.parent, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    *_, black, white, verdict = done.stdout.splitlines()
    counts = r"keeps at least a draw: [\d,]+ positions, [\d,]+ replies answered, [\d,]+ positions .* looked up"
    assert re.fullmatch("Black " + counts, black) and re.fullmatch("White " + counts, white)
    assert verdict.endswith("is a draw.")
    assert "import solver" not in SCRIPT.read_text() and "from solver" not in SCRIPT.read_text()


@pytest.mark.parametrize("outcome, text", [(o, t) for o, texts in DECIDED.items() for t in texts])
def test_decided_positions_pass_as_wins(check, certify, tmp_path, outcome, text):
    path, position = tmp_path / "decided.h5", parse_own_form(text, SIX)
    assert certify(path, SIX, position).white_outcome == outcome
    winner = "White" if outcome == "win" else "Black"
    with h5py.File(path, "r", locking=False) as file:
        assert {side: group.attrs["claim"] for side, group in file.items()} == {winner.lower(): b"win"}
    code, words = check(path)
    assert code == 0 and words.endswith(f" of six is a win for {winner}.")


@pytest.mark.parametrize(
    "variant",
    [
        get_variant("five"),
        get_variant("six-fly"),
        SIX.with_overrides(capture_in_mills="none"),
        pytest.param(SIX.with_overrides(stones=8), marks=pytest.mark.slow),
        SIX.with_overrides(stones=8, full_board="draw"),
        get_variant("three"),
        get_variant("three").with_overrides(stones=4, full_board="draw"),
        get_variant("nine").with_overrides(stones=3),
        pytest.param(get_variant("nine").with_overrides(stones=4), marks=pytest.mark.slow),
    ],
    ids=lambda variant: variant.name,
)
def test_other_games_pass(check, certify, tmp_path, variant):
    path = tmp_path / "other.h5"
    proof = certify(path, variant, start(variant))
    words = {"win": "a win for White", "loss": "a win for Black", "draw": "a draw"}[proof.white_outcome]
    code, verdict = check(path)
    assert code == 0 and verdict.endswith(f" of {variant.name} is {words}.")


def test_half_a_certificate_proves_half(check, tampered):
    code, verdict = check(tampered(lambda file: file.pop("black"), False))
    assert code == 0 and verdict.endswith("is at least a draw for White.")


def test_every_entry_is_a_legal_turn_to_the_solver_too(six):
    with h5py.File(six, "r", locking=False) as file:
        for side, level in levels(six):
            entries = file[side][level]
            positions, turns = entries["positions"][()], entries["turns"][()]
            assert (np.diff(positions.astype(np.int64)) > 0).all()
            for key, turn in list(zip(positions.tolist(), turns.tolist()))[::40]:
                legal = legal_turns(SIX, position_of(key, int(level)))
                assert (None, turn & 255, (turn >> 8) - 1 if turn >> 8 else None) in legal


@pytest.mark.parametrize("name", ["nine", "nine-strict", "morabaraba", "six", "three"])
def test_the_check_finds_the_same_turns_and_images(checker, name):
    """Its own rules and symmetries against the solver's, on boards with many mills."""
    variant = get_variant(name)
    board, n = variant.board, variant.board.n_points
    with h5py.File("memory", "w", driver="core", backing_store=False) as file:
        write_attributes(file, {
            "format": FORMAT, "variant": name, "fingerprint": variant.fingerprint, "rules": json.dumps(variant.rules()),
            "root": np.array([0, 0, variant.stones, variant.stones, 1]),
        })  # fmt: skip
        game = checker.Certificate(file).game
    assert len(game.images) == len(board.symmetries)
    rng, n_captures = np.random.default_rng(3), 0
    whites, blacks = np.empty(512, np.int64), np.empty(512, np.int64)
    for _ in range(200):
        mills = rng.choice(board.mill_masks, 2)
        white = (int(rng.integers(1 << n)) & ~int(mills[1]) | int(mills[0])) & int(rng.integers(1 << n))
        black = (int(rng.integers(1 << n)) & int(rng.integers(1 << n)) | int(mills[1])) & ~white
        white_moves = bool(rng.integers(2))
        position = Position(white, black, white_moves, 9, 9 if white_moves else 10)
        found = checker.fill_turns(game, white, black, white_moves, whites, blacks)
        after = [play(variant, position, turn) for turn in legal_turns(variant, position)]
        assert sorted(zip(whites[:found], blacks[:found])) == sorted((p.white, p.black) for p in after)
        n_captures += sum(p.occupied_mask.bit_count() <= position.occupied_mask.bit_count() for p in after)
        images = [(board.image(white, s), board.image(black, s)) for s in range(len(board.symmetries))]
        assert checker.smallest(game, white, black) == min(images)
    assert n_captures > 100


# ---------------------------------------------------------------- one entry


@pytest.mark.parametrize("new_digest", [False, True])
def test_one_entry_removed(check, tampered, six, new_digest):
    rng = np.random.default_rng(1)
    for side, level in levels(six):
        removed = {}

        def remove(file):
            entries = file[side][level]
            i = int(rng.integers(len(entries["positions"])))
            removed["key"] = entries["positions"][i]
            for name in ("positions", "turns"):
                rewrite(entries, name, np.delete(entries[name][()], i))

        code, words = check(tampered(remove, new_digest))
        position = format_own_form(position_of(removed["key"], int(level)), SIX)
        assert code == 1
        assert words == f"refused: {side}, {int(level)} stones in hand: no answer for position {position}"


def wrong_turns(position, turn):
    """Turns of one entry that break a rule, by what is wrong with them."""
    occupied = (position.white | position.black).bit_length() - 1
    closes = any(t.target == turn & 255 and t.captured is not None for t in legal_turns(SIX, position))
    own = position.own_mask.bit_length() - 1
    wrong = {"off the board": 16, "far off": 0xFFFF, "removes a point off the board": turn & 255 | 17 << 8}
    if occupied >= 0:
        wrong["occupied"] = occupied
    if closes:
        wrong["removes nothing"] = turn & 255
    elif own >= 0:
        wrong["closes no mill"] = turn & 255 | own + 1 << 8
    if own >= 0:
        wrong["removes an own stone"] = turn & 255 | own + 1 << 8
    return wrong


@pytest.mark.parametrize("new_digest", [False, True])
def test_one_turn_changed_to_an_illegal_one(check, tampered, six, new_digest):
    seen = set()
    for side, level in [("white", "12"), ("black", "01")]:
        with h5py.File(six, "r", locking=False) as file:
            positions, turns = (file[side][level][name][()] for name in ("positions", "turns"))
        for i in {0, int(np.argmax(turns))}:  # the largest code removes a stone, where any does
            position = position_of(positions[i], int(level))
            for reason, wrong in wrong_turns(position, int(turns[i])).items():
                changed = turns.copy()
                changed[i] = wrong
                code, words = check(tampered(lambda file: rewrite(file[side][level], "turns", changed), new_digest))
                where = f"{side}, {int(level)} stones in hand: illegal turn {wrong:#06x} in position "
                assert (code, words) == (1, f"refused: {where}{format_own_form(position, SIX)}"), reason
                seen.add(reason)
    assert len(seen) == 7


def test_one_turn_changed_to_a_worse_one(check, tampered, six, tables, workers):
    """The turn is legal, but lets the other side win: somewhere an answer is missing or the value is wrong."""
    prover = Prover(SIX, TableStore(tables, SIX), workers, 1 << 22)
    rng, n_changed = np.random.default_rng(2), 0
    for side, level in levels(six):
        with h5py.File(six, "r", locking=False) as file:
            positions, turns = (file[side][level][name][()] for name in ("positions", "turns"))
        question = prover.questions[0 if side == "white" else 1]
        for i in rng.integers(0, len(positions), 4).tolist():
            position = position_of(positions[i], int(level))
            for turn in legal_turns(SIX, position):
                if not question.answer(play(SIX, position, turn)):
                    changed = turns.copy()
                    changed[i] = turn.target | (0 if turn.captured is None else turn.captured + 1) << 8
                    code, words = check(tampered(lambda file: rewrite(file[side][level], "turns", changed), True))
                    assert code == 1
                    assert re.match(rf"refused: {side}.*(no answer for|is no draw|never reached|lost in)", words), words
                    n_changed += 1
                    break
    assert n_changed > 10
    prover.leaf_store.store.close()


def test_any_changed_turn_is_seen_by_the_digest(check, tampered, six):
    """At the end of the placing another turn may do as well, and only the digest tells."""
    with h5py.File(six, "r", locking=False) as file:
        turns = file["black/01/turns"][()]
        positions = file["black/01/positions"][()]
    for i in range(0, len(turns), 700):
        position = position_of(positions[i], 1)
        other = next(t for t in legal_turns(SIX, position) if t.target != turns[i] & 255)
        changed = turns.copy()
        changed[i] = other.target | (0 if other.captured is None else other.captured + 1) << 8
        code, words = check(tampered(lambda file: rewrite(file["black/01"], "turns", changed), False))
        assert (code, words) == (1, "refused: black: the entries differ from their sha256")


# ---------------------------------------------------------------- the whole


def add_entry(file):
    entries = file["white/04"]
    key = 0b1111 | 0b1111_0000 << 24
    at = int(np.searchsorted(entries["positions"][()], np.uint64(key)))
    rewrite(entries, "positions", np.insert(entries["positions"][()], at, np.uint64(key)))
    rewrite(entries, "turns", np.insert(entries["turns"][()], at, np.uint16(8)))


def double_entry(file):
    for name in ("positions", "turns"):
        values = file["white/04"][name][()]
        rewrite(file["white/04"], name, np.insert(values, 5, values[5]))


def swap_entries(file):
    for name in ("positions", "turns"):
        values = file["white/04"][name][()]
        values[[3, 4]] = values[[4, 3]]
        rewrite(file["white/04"], name, values)


def swap_turns(file):
    rewrite(file["white/04"], "turns", file["white/04/turns"][()][::-1])


def exchange(first, second):
    def change(file):
        file.move(first, "aside")
        file.move(second, first)
        file.move("aside", second)

    return change


def write_attribute(group, name, value):
    def change(file):
        write_attributes(file[group], {name: value})

    return change


def change_rules(**changes):
    """Other rules, with the fingerprint that belongs to them."""

    def change(file):
        rules = {**json.loads(file.attrs["rules"]), **changes}
        canonical = json.dumps(rules, sort_keys=True, separators=(",", ":")).encode()
        write_attributes(file, {"rules": json.dumps(rules), "fingerprint": hashlib.sha256(canonical).hexdigest()[:16]})

    return change


def off_the_board(file):
    values = file["white/04/positions"][()]
    values[-1] |= np.uint64(1 << 50)
    rewrite(file["white/04"], "positions", values)


@pytest.mark.parametrize("new_digest", [False, True])
@pytest.mark.parametrize(
    "change, words",
    [
        (add_entry, "white, 4 stones in hand: an entry that is never reached, position WWWWBBBB/........ w 2,2"),
        (double_entry, "white, 4 stones in hand: the positions do not ascend"),
        (swap_entries, "white, 4 stones in hand: the positions do not ascend"),
        (swap_turns, "white, [24] stones in hand: (illegal turn|no answer)"),
        (off_the_board, "white, 4 stones in hand: the last position is none"),
        (exchange("white/04", "white/06"), "white, 6 stones in hand: no answer"),
        (exchange("white/04/positions", "white/04/turns"), "white, 4 stones in hand: positions and turns are no lists"),
        (exchange("white/04/turns", "white/06/turns"), "white, 6 stones in hand: positions and turns are no lists"),
        (exchange("white", "black"), "black: (02|12) is no level of its strategy"),
        (lambda file: file["white"].pop("04"), "white, 4 stones in hand: no answer for position"),
        (lambda file: file["white"].move("04", "05"), "white: 05 is no level of its strategy"),
        (lambda file: file["white/04"].pop("turns"), "cannot be read"),
        (lambda file: file["white"].attrs.pop("claim"), "cannot be read"),
        (lambda file: file.pop("white") and file.pop("black"), "there is no strategy"),
        (lambda file: file.move("black", "red"), "there is no strategy for White or Black"),
        (write_attribute("white", "claim", "win"), "white: position .* is no win for white"),
        (write_attribute("/", "root", np.array([1, 2, 5, 5, 1])), "black: 11 is no level of its strategy"),
        (write_attribute("/", "root", np.array([0, 0, 6, 6, 0])), "the root is no position of this game"),
        (write_attribute("/", "root", np.array([1, 0, 5, 6, 1])), "the root is no position of this game"),
        (write_attribute("/", "root", np.array([1, 1, 5, 5, 1])), "the root is no position of this game"),
        (write_attribute("/", "variant", "five"), "made for other rules|is missing in"),
        (write_attribute("/", "variant", "../six"), "the variant's name is no file name"),
        (write_attribute("/", "format", "morris-certificate 9"), "the format is 'morris-certificate 9'"),
        (write_attribute("/", "fingerprint", "0" * 16), "the fingerprint is not that of the rules"),
        (lambda file: file.attrs.update(format="morris-certificate 1"), "format is no integer and no text of a fixed length"),
        (change_rules(fly_at=3), "made for other rules"),
        (change_rules(stones=5), "the root is no position"),
        (change_rules(mills=[[0, 1, 2]]), "no answer|illegal turn"),
        (change_rules(edges=[], mills=[]), "the board has too few edges to tell its points apart"),
        (change_rules(edges=[]), "the board has too few edges to tell its points apart"),
        (change_rules(place_and_slide=True), "no game that begins with placing only"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_other_changes(check, tampered, change, words, new_digest):
    code, said = check(tampered(change, new_digest))
    assert code in (1, 3)
    assert re.search(words, said), said


@pytest.mark.parametrize("side", ["white", "black"])
def test_a_changed_digest(check, tampered, side):
    code, words = check(tampered(write_attribute(side, "sha256", "0" * 64), False))
    assert (code, words) == (1, f"refused: {side}: the entries differ from their sha256")


@pytest.mark.parametrize("content", [b"", b"no HDF5 file", None])
def test_damaged_files(check, six, tmp_path, content):
    path = tmp_path / "damaged.h5"
    path.write_bytes(six.read_bytes()[:-2000] if content is None else content)
    code, words = check(path)
    assert code == 1 and re.search("damaged.h5 cannot be read", words)
    code, words = check(tmp_path / "nowhere.h5")
    assert code == 1 and re.search("nowhere.h5 cannot be read", words)


# ---------------------------------------------------------------- the tables


@pytest.fixture
def own_tables(tables, six, tmp_path):
    """A copy of six's tables, to be changed."""
    shutil.copytree(tables / "six", tmp_path / "tables" / "six")
    return tmp_path / "tables"


def test_a_missing_table_is_named(check, six, own_tables):
    (own_tables / "six" / "6-6.h5").unlink()
    code, words = check(six, own_tables)
    assert code == 3 and words.startswith("the table 6-6 of six is missing in ")


def test_outcomes_will_do(check, six, own_tables):
    """All tables as outcomes alone, one missing, and one with two bits that mean nothing."""
    copy_outcomes(own_tables, own_tables, SIX, moving_targets(SIX))
    for path in (own_tables / "six").glob("*.h5"):
        path.unlink()
    assert check(six, own_tables) == (0, "Proved: ......../........ w 6,6 of six is a draw.")
    path = own_tables / "six.outcome" / "6-6.h5"
    with h5py.File(path, "r+") as file:
        file["6-6/values"][0, 0] = 3
    code, words = check(six, own_tables)
    assert code == 1 and words.endswith("6-6.h5 has two bits that are no outcome")
    path.unlink()
    assert check(six, own_tables)[0] == 3


def test_outcomes_that_are_lost(check, six, own_tables):
    copy_outcomes(own_tables, own_tables, SIX, moving_targets(SIX))
    for path in (own_tables / "six").glob("*.h5"):
        path.unlink()
    for path in (own_tables / "six.outcome").glob("*.h5"):
        with h5py.File(path, "r+") as file:
            for name in file:
                if "-" in name:
                    file[name]["values"][...] = 0  # the side to move, White, has lost
    code, words = check(six, own_tables)
    assert code == 1 and re.fullmatch(r"refused: white: position [WB./]+ w 0,0 is no draw for white", words)


def test_tables_of_another_game(check, six, own_tables, tables, certify, tmp_path):
    certify(tmp_path / "five.h5", get_variant("five"), start(get_variant("five")))
    shutil.copy(tables / "five" / "5-4.h5", own_tables / "six" / "5-4.h5")
    code, words = check(six, own_tables)
    assert code == 1 and words.endswith("5-4.h5 was made for other rules")


@pytest.mark.parametrize("code_instead, sides", [(3, ["white"]), (252, ["black"])])
def test_leaves_that_are_lost(check, six, own_tables, code_instead, sides):
    """Draws become losses, or wins, of White's; then nobody keeps a draw any more."""
    store = TableStore(own_tables, SIX)
    for pair in moving_targets(SIX):
        together = solved_together(SIX, pair)
        read = {s: store.table(s) for s in together}
        row_masks = read[pair].file.row_masks
        values = {s: table.read() for s, table in read.items()}
        for flat in values.values():
            flat[flat == draw_code(1)] = code_instead
        tallies = {s: (table.histogram(), table.histogram(raw=True)) for s, table in read.items()}
        write_tables(store.path(pair), SIX, row_masks, values, tallies)
    store.close()
    code, words = check(six, own_tables)
    assert code == 1
    assert re.fullmatch(rf"refused: ({'|'.join(sides)}): position [WB./]+ w 0,0 is no draw for \1", words)


def test_a_damaged_table(check, six, own_tables):
    path = own_tables / "six" / "6-6.h5"
    raw = bytearray(path.read_bytes())
    raw[len(raw) // 2 : len(raw) // 2 + 64] = bytes(64)
    path.write_bytes(raw)
    assert check(six, own_tables)[0] == 1


# ---------------------------------------------------------------- writing


def test_nothing_proved_is_not_certified(tmp_path, tables, workers):
    prover = Prover(SIX, TableStore(tables, SIX), workers, 1 << 22)
    for proof, position, reason in (
        (Proof(None, None), start(SIX), "nothing was proved"),
        (Proof(False, True), Position(0b1, 0b1110, True, 1, 1), "the game is over"),
    ):
        with pytest.raises(InputError, match=reason):
            write_certificate(tmp_path / "none.h5", prover, position, proof)
    assert not list(tmp_path.iterdir())


def test_an_interrupt_leaves_no_file(tmp_path, tables, workers):
    """Uninterrupted, the search for turns would take minutes here, since the prover remembers next to nothing."""
    variant = SIX.with_overrides(stones=8, full_board="draw")
    build_tables(tables, variant, moving_targets(variant))
    prover = Prover(variant, TableStore(tables, variant), workers, 1 << 22)
    for question in prover.questions:
        question.table = np.zeros(BUCKET, np.int64)
    threading.Timer(0.5, _thread.interrupt_main).start()
    with pytest.raises(KeyboardInterrupt):
        write_certificate(tmp_path / "none.h5", prover, start(variant), Proof(True, True))
    assert not list(tmp_path.iterdir())
