"""The proof command: prove."""

import time

import click

from ..errors import InputError
from . import data_option, jobs_option, variant_options
from .building import PROOF_MEMORY, parse_bytes


@click.command()
@click.argument("position", required=False)
@click.option("--moves", help="The turns so far, from the empty board.")
@click.option("--memory", metavar="SIZE", default=f"{PROOF_MEMORY >> 30}G", show_default=True, help="For the table of answers.")
@click.option("--time-limit", type=click.FloatRange(0, min_open=True), help="Seconds; then the answer is unknown.")
@click.option("--within", type=click.IntRange(1), metavar="PLIES", help="Ask whether a side wins in so many plies at most.")
@click.option("--certificate", type=click.Path(dir_okay=False), help="Write the proof tree to this HDF5 file.")
@jobs_option
@data_option
@variant_options
def prove(variant, data, jobs, position, moves, memory, time_limit, within, certificate) -> None:
    """Settle what a position of the placement phase is worth, the empty board by default.

    Searches to the end of the placing and probes moving-phase tables only; tables of outcomes will do, but for --within.

    \b
    morris prove
    morris prove --moves "d6 f4 b4"
    morris prove -V morabaraba --within 49
    morris prove --certificate draw.h5
    """
    from ..notation import parse_moves, parse_position
    from ..position import start

    if position is not None:
        place = parse_position(position, variant)
    elif moves is not None:
        place = parse_moves(moves, variant).position
    else:
        place = start(variant)
    in_hand = place.white_hand + place.black_hand
    if within is not None and within < in_hand:
        raise InputError(f"--within {within}: {in_hand} stones are still in hand, and the search goes that far; say {in_hand} or more")
    if within is not None and certificate:
        raise InputError("a certificate is of the outcome alone; leave --within away")
    print_proof(variant, data, place, jobs, parse_bytes(memory), time_limit, certificate, within=within)


def print_proof(variant, data, position, jobs, memory, time_limit=None, certificate=None, metric=None, within=None) -> None:
    """Runs the proof and prints verdict and cost.  Outcomes serve where depths are missing, or alone, by ``metric``.

    within: plies from this position that a win may take; None asks for the outcome.
    """
    from ..jit import Workers
    from ..metric import DTW
    from ..search import Prover
    from ..store import TableStore

    if certificate:
        from ..certificate import require_writable_file

        require_writable_file(certificate)
    started = time.monotonic()
    store, workers = TableStore(data, variant, metric=metric or DTW, or_outcomes=within is None), Workers(jobs)
    plies = None if within is None else within - position.white_hand - position.black_hand
    held = "holds at least a draw" if within is None else f"is not beaten within {within} plies"
    broken = "loses" if within is None else f"is beaten within {within} plies"
    try:
        prover = Prover(variant, store, workers, memory, plies)
        proof = prover.prove(position, time_limit)
        for side, holds, question in zip(("White", "Black"), (proof.white_holds, proof.black_holds), prover.questions):
            word = {True: held, False: broken, None: "was not asked to the end"}[holds]
            nodes, probes, hits = question.counts
            click.echo(
                f"{side} {word}: {nodes:,} positions searched, {probes:,} table probes, {hits:,} transposition hits, "
                f"{question.seconds:.1f} s"
            )
        leaves = prover.leaf_store
        click.echo(
            f"{len(leaves.subspaces)} moving-phase subspaces needed, loaded in {leaves.seconds:.1f} s: "
            f"{' '.join(leaves.subspaces) or 'none'}"
        )
        words = {"win": "is a win for White", "loss": "is a win for Black", "draw": "is a draw", "unknown": "is unknown"}
        if within is not None:
            words = {word: f"{verdict} within {within} plies" for word, verdict in words.items()}
            words["draw"] = f"is won by nobody within {within} plies"
        empty = position.white == position.black == 0
        click.echo(
            f"The {'empty board' if empty else 'position'} of {variant.name} {words[proof.white_outcome.value]} "
            f"({time.monotonic() - started:.1f} s)."
        )
        if certificate:
            from ..certificate import write_certificate

            n_positions = write_certificate(certificate, prover, position, proof)
            click.echo(f"{certificate}: {n_positions:,} positions of the strategies that hold")
    finally:
        workers.close()
        store.close()
