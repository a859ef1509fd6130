"""Certificates: a proof of a placement position's value that others can check.

A drawn position has a strategy for each side, with which it keeps at least a draw; a decided one has the winner's.  A
strategy is every position with that side to move that can arise when it follows it, whatever the other side does,
with the one turn it chooses.  Positions are canonical.  At the end stand moving-phase positions, whose values are in
the tables, unless the game is won before.

HDF5, one group per strategy (``white``, ``black``), in it one group per number of stones in hand (both sides together,
two digits) with two datasets of equal length; a level without positions may be left out:

    positions   uint64, ascending: white mask | black mask << 24, of the images under the board's symmetries the one
                with the smallest white mask and, among several of these, the smallest black mask
    turns       uint16: target point | (removed point + 1) << 8, points in ring order, in the frame of that image

Attributes of the file, text of fixed length: format, variant, rules (JSON), fingerprint, root (white mask, black mask, white hand, black
hand, White to move); of each group: claim (``draw``: at least that; ``win``), and sha256 over all its datasets in order
of falling hands, positions before turns.
"""

import hashlib
import io
import json
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

import h5py
import numpy as np

from .attributes import write_attributes
from .bits import bit_count, lowest_bit
from .errors import InputError, MorrisError
from .jit import kernel
from .search import (
    BROKEN, HOLDS, MISSING, MOST_TURNS, STOP, STOPPED, Proof, Prover, Question, canonical_key, fill_turns, recall,
    search,
)  # fmt: skip
from .variant import MIN_STONES
from .wholefile import unfinished_name, written_whole

FORMAT = "morris-certificate 2"


@kernel
def choose_turns(
    game, leaves, table, history, control, stack, keys, white_hand, black_hand, white_moves, holder, turns
):  # fmt: skip
    """For each canonical position writes a turn that holds, or breaks where the other side is the holder; returns how
    many were settled.

    Stops at the first position whose search needs a table that is not loaded (`control` tells which) or is stopped.
    """
    mask24 = (np.int64(1) << 24) - 1
    hands = white_hand + black_hand
    owns = np.empty(MOST_TURNS, np.int64)
    opponents = np.empty(MOST_TURNS, np.int64)
    scores = np.empty(MOST_TURNS, np.int64)
    side = 0 if white_moves else 1
    wanted = HOLDS if side == holder else BROKEN
    for i in range(len(keys)):
        if control[STOP]:
            return i
        white, black = keys[i] & mask24, (keys[i] >> 24) & mask24
        own, opponent = (white, black) if white_moves else (black, white)
        opponent_hand = black_hand if white_moves else white_hand
        n = fill_turns(game, own, opponent, history[side], owns, opponents, scores)
        chosen = -1
        for search_too in range(2):
            for j in range(n):
                w, b = (owns[j], opponents[j]) if white_moves else (opponents[j], owns[j])
                if bit_count(opponents[j]) + opponent_hand < MIN_STONES:
                    chosen = j
                    break
                known = np.int64(-1)
                if hands > 1:
                    known = recall(table, canonical_key(game.orb, w, b, hands - 1))
                if known < 0 and (search_too or hands == 1):
                    known = search(
                        game, leaves, table, history, control, stack, w, b,
                        white_hand - white_moves, black_hand - (not white_moves), not white_moves, holder,
                    )
                    if known == STOPPED:
                        return i
                if known == wanted:
                    chosen = j
                    break
            if chosen >= 0:
                break
        if chosen < 0:
            turns[i] = 0xFFFF
            return i
        target = lowest_bit(owns[chosen] ^ own)
        removed = opponent ^ opponents[chosen]
        turns[i] = target | ((lowest_bit(removed) + 1) << 8 if removed else 0)
    return len(keys)


@kernel
def apply_turns(game, keys, turns, white_moves, hands_after, opponent_hand, out):
    """Writes the canonical positions after the chosen turns that are not over; returns how many."""
    mask24 = (np.int64(1) << 24) - 1
    n = 0
    for i in range(len(keys)):
        white, black = keys[i] & mask24, (keys[i] >> 24) & mask24
        own, opponent = (white, black) if white_moves else (black, white)
        own |= np.int64(1) << np.int64(turns[i] & 255)
        if turns[i] >> 8:
            opponent ^= np.int64(1) << (np.int64(turns[i] >> 8) - 1)
        if bit_count(opponent) + opponent_hand < MIN_STONES:
            continue
        w, b = (own, opponent) if white_moves else (opponent, own)
        out[n] = canonical_key(game.orb, w, b, hands_after)
        n += 1
    return n


@kernel
def expand_replies(game, history, keys, white_moves, hands_after, opponent_hand, out):
    """Writes the canonical positions after all turns of the side to move; returns how many (at most len(out))."""
    mask24 = (np.int64(1) << 24) - 1
    owns = np.empty(MOST_TURNS, np.int64)
    opponents = np.empty(MOST_TURNS, np.int64)
    scores = np.empty(MOST_TURNS, np.int64)
    n = 0
    for i in range(len(keys)):
        white, black = keys[i] & mask24, (keys[i] >> 24) & mask24
        own, opponent = (white, black) if white_moves else (black, white)
        turns = fill_turns(game, own, opponent, history, owns, opponents, scores)
        for j in range(turns):
            if bit_count(opponents[j]) + opponent_hand < MIN_STONES:
                return -1  # the other side wins here: no strategy at all
            w, b = (owns[j], opponents[j]) if white_moves else (opponents[j], owns[j])
            if n < len(out):
                out[n] = canonical_key(game.orb, w, b, hands_after)
            n += 1
    return n


def strategy(question: Question, position, for_white: bool) -> dict[int, tuple[np.ndarray, np.ndarray]]:
    """A side's strategy from a position: {stones in hand: (positions, turns)}.

    The holder's where it holds; the other side's, with which it wins, where the holder does not.
    """
    white_hand, black_hand, white_moves = position.white_hand, position.black_hand, position.white_to_move
    level = np.array([canonical_key(question.game.orb, position.white, position.black, 0)], np.int64)
    found = {}
    while white_hand + black_hand and len(level):
        hands = white_hand + black_hand
        opponent_hand = black_hand if white_moves else white_hand
        if white_moves == for_white:
            turns = _chosen(question, level, white_hand, black_hand, white_moves)
            found[hands] = (level.astype(np.uint64), turns)
            out = np.empty(len(level), np.int64)
            n = apply_turns(question.game, level, turns, white_moves, 0, opponent_hand, out)
            level = np.unique(out[:n])
        elif hands > 1:
            level = _replies(question, level, white_moves, opponent_hand)
        white_hand, black_hand = white_hand - white_moves, black_hand - (not white_moves)
        white_moves = not white_moves
    return found


def _chosen(question, level, white_hand, black_hand, white_moves) -> np.ndarray:
    turns = np.zeros(len(level), np.uint16)
    stack = np.empty((3, 2 * question.variant.stones + 1, MOST_TURNS), np.int64)
    done = 0
    with ThreadPoolExecutor(1, "morris-strategy") as pool:  # in a thread of its own it can be interrupted
        while done < len(level):
            question.control[STOP] = question.control[MISSING] = 0
            try:
                job = pool.submit(
                    choose_turns,
                    question.game, question.leaves, question.table, question.history, question.control, stack,
                    level[done:], white_hand, black_hand, white_moves, question.holder, turns[done:],
                )  # fmt: skip
                while not wait([job], timeout=0.1).done:
                    pass
                done += job.result()
            except BaseException:
                question.stop()
                raise
            if done < len(level):
                if not question.control[MISSING]:
                    raise MorrisError("the strategy leads to a position that does not hold; the proof is wrong")
                question.load_missing()
    return turns


def _replies(question, level, white_moves, opponent_hand) -> np.ndarray:
    parts = []
    for start in range(0, len(level), 1 << 18):
        part = level[start : start + (1 << 18)]
        out = np.empty(len(part) * 64, np.int64)
        n = expand_replies(question.game, question.history[0], part, white_moves, 0, opponent_hand, out)
        if n < 0:
            raise MorrisError("the strategy lets the other side win; the proof is wrong")
        if n > len(out):
            out = np.empty(n, np.int64)
            n = expand_replies(question.game, question.history[0], part, white_moves, 0, opponent_hand, out)
        parts.append(np.unique(out[:n]))
    return np.unique(np.concatenate(parts))


def _claims(prover: Prover, proof: Proof) -> list[tuple[str, str, Question]]:
    """Sides with what their strategies achieve, and the questions whose answers these show."""
    asked_of_white, asked_of_black = prover.questions
    if proof.black_holds is False:
        return [("white", "win", asked_of_black)]
    if proof.white_holds is False:
        return [("black", "win", asked_of_white)]
    held = (("white", proof.white_holds, asked_of_white), ("black", proof.black_holds, asked_of_black))
    return [(side, "draw", question) for side, holds, question in held if holds]


def require_writable_file(path) -> None:
    """Raises `InputError` where `write_certificate` could not make its file."""
    unfinished = unfinished_name(Path(path))
    try:
        unfinished.touch()
        unfinished.unlink()
    except OSError as error:
        raise InputError(f"cannot write the certificate {path}: {error.strerror}") from None


def write_certificate(path, prover: Prover, position, proof: Proof) -> int:
    """Writes the strategies that show the value; returns how many positions they have.  Whole or not at all."""
    path, variant = Path(path), prover.variant
    claims = _claims(prover, proof)
    if not claims:
        raise InputError("nothing was proved, so there is nothing to certify")
    if position.subspace.is_over:
        raise InputError("the game is over in this position, so there is nothing to certify")
    content, n_positions = io.BytesIO(), 0  # HDF5 does not give up in peace on a disk that is full
    with h5py.File(content, "w", libver=("v110", "v110")) as file:
        write_attributes(file, {
            "format": FORMAT, "variant": variant.name, "fingerprint": variant.fingerprint,
            "rules": json.dumps(variant.rules()),
            "root": np.array([
                position.white, position.black, position.white_hand, position.black_hand, position.white_to_move
            ], np.int64),
        })  # fmt: skip
        for side, claim, question in claims:
            group = file.create_group(side)
            digest = hashlib.sha256()
            for hands, (positions, turns) in strategy(question, position, side == "white").items():
                level = group.create_group(f"{hands:02d}")
                level.create_dataset("positions", data=positions, compression="gzip", shuffle=True)
                level.create_dataset("turns", data=turns, compression="gzip", shuffle=True)
                digest.update(positions.tobytes())
                digest.update(turns.tobytes())
                n_positions += len(positions)
            write_attributes(group, {"claim": claim, "sha256": digest.hexdigest()})
    with written_whole(path) as unfinished:
        unfinished.write_bytes(content.getbuffer())
    return n_positions
