"""benchmarks/bench_server.py: requests a second and latency of `morris serve`, warm, over loopback.

    python benchmarks/bench_server.py --data data/tables -V nine

Starts the server on a core of its own, asks each of some hundred random positions once (to warm the caches), and then
asks them again in two ways: at a fixed rate, latency counted from the moment a request was due, so that waiting
counts; and as fast as eight connections go.  Every answer is compared with what the tables say directly.  Processor
time per request is printed as well: on a machine that is busy with other things it is the number to trust.

Bounded: at most `--requests` requests and about `--seconds` per part.
"""

import argparse
import asyncio
import json
import os
import random
import re
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from urllib.parse import quote

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from solver.errors import InputError
from solver.position import Position, check_position, format_own_form
from solver.query import TableSet
from solver.render import answer_data
from solver.stats import finished_subspaces
from solver.variant import get_variant

CONNECTIONS = 8


def random_positions(tables: TableSet, n: int, seed: int) -> list[Position]:
    """Positions with random stones in subspaces that have tables, all of them equally often."""
    rng, variant = random.Random(seed), tables.variant
    subspaces = [s for s in finished_subspaces(tables.store) if s.own + s.own_hand >= 3]
    found = []
    while len(found) < n:
        s = rng.choice(subspaces)
        points = rng.sample(range(variant.board.n_points), s.stones_on_board)
        own, opponent = (sum(1 << p for p in part) for part in (points[: s.own], points[s.own :]))
        # Whose turn it is follows from the hands while only placing; otherwise either will do.
        for white in rng.sample((True, False), 2):
            position = Position(own, opponent, white, s.own_hand, s.opponent_hand)
            if not white:
                position = Position(opponent, own, white, s.opponent_hand, s.own_hand)
            try:
                check_position(position, variant)
            except InputError:
                continue
            found.append(position)
            break
    return found


class Connection:
    """A connection that is kept open; one request at a time."""

    async def open(self, port: int) -> "Connection":
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", port)
        return self

    async def get(self, path: str) -> bytes:
        self.writer.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
        head = await self.reader.readuntil(b"\r\n\r\n")
        body = await self.reader.readexactly(int(re.search(rb"(?i)content-length: (\d+)", head)[1]))
        if b" 200 " not in head.split(b"\r\n", 1)[0]:
            raise SystemExit(f"{path}: {head.splitlines()[0].decode()} {body[:200].decode()}")
        return body


async def at_fixed_rate(connections, paths, expected, rate: float, seconds: float) -> list[float]:
    """Latencies in seconds, counted from when a request was due."""
    free = asyncio.Queue()
    for connection in connections:
        free.put_nowait(connection)
    latencies = []

    async def one(number: int, due: float) -> None:
        connection = await free.get()
        body = await connection.get(paths[number % len(paths)])
        latencies.append(time.perf_counter() - due)
        free.put_nowait(connection)
        if body != expected[number % len(paths)]:
            raise SystemExit(f"a wrong answer to {paths[number % len(paths)]}")

    started, tasks = time.perf_counter(), []
    for number in range(int(rate * seconds)):
        due = started + number / rate
        delay = due - time.perf_counter()
        if delay > 0:
            await asyncio.sleep(delay)
        tasks.append(asyncio.create_task(one(number, due)))
    await asyncio.gather(*tasks)
    return latencies


async def at_full_speed(connections, paths, expected, requests: int, seconds: float) -> float:
    """Requests a second."""
    numbers, end, done = iter(range(requests)), time.perf_counter() + seconds, 0

    async def work(connection) -> None:
        nonlocal done
        for number in numbers:
            if time.perf_counter() > end:
                return
            if await connection.get(paths[number % len(paths)]) != expected[number % len(paths)]:
                raise SystemExit(f"a wrong answer to {paths[number % len(paths)]}")
            done += 1

    started = time.perf_counter()
    await asyncio.gather(*(work(connection) for connection in connections))
    return done / (time.perf_counter() - started)


def processor_seconds(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def measure(options, port: int, process: int, positions, paths, expected) -> dict:
    connections = [await Connection().open(port) for _ in range(CONNECTIONS)]
    cold = []
    for path, body in zip(paths, expected):
        started = time.perf_counter()
        if await connections[0].get(path) != body:
            raise SystemExit(f"a wrong answer to {path}")
        cold.append(time.perf_counter() - started)
    for path in paths:
        await connections[0].get(path)
    before, n = processor_seconds(process), int(options.rate * options.seconds)
    latencies = sorted(await at_fixed_rate(connections, paths, expected, options.rate, options.seconds))
    used = processor_seconds(process) - before
    full = await at_full_speed(connections, paths, expected, options.requests, options.seconds)
    return {
        "variant": options.variant, "positions": len(positions),
        "turns_mean": round(sum(body.count(b'"move"') for body in expected) / len(expected), 1),
        "cold_median_ms": round(1e3 * median(cold), 2), "rate": options.rate, "requests": n,
        "p50_ms": round(1e3 * latencies[n // 2], 2), "p99_ms": round(1e3 * latencies[n * 99 // 100], 2),
        "max_ms": round(1e3 * latencies[-1], 2),
        "processor_ms_per_request": round(1e3 * used / n, 3), "full_speed_per_s": round(full),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", default="data/tables")
    parser.add_argument("-V", "--variant", default="nine")
    parser.add_argument("--positions", type=int, default=400)
    parser.add_argument("--rate", type=float, default=500)
    parser.add_argument("--seconds", type=float, default=6)
    parser.add_argument("--requests", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    variant = get_variant(options.variant)
    with TableSet(options.data, variant) as tables:
        positions = random_positions(tables, options.positions, options.seed)
        answers = [answer_data(variant, p, tables.value_or_unknown(p), tables.moves(p)) for p in positions]
    expected = [json.dumps(answer, separators=(",", ":")).encode() for answer in answers]
    paths = [f"/v1/position?variant={variant.name}&position={quote(format_own_form(p, variant))}" for p in positions]
    cores = sorted(os.sched_getaffinity(0))
    command = [sys.executable, "-c", "from solver.cli import main; main()", "serve", "--port", "0", "--data", options.data]
    root = Path(__file__).resolve().parent.parent
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(root)})
    os.sched_setaffinity(server.pid, cores[-1:])  # before it has made any thread
    os.sched_setaffinity(0, cores[:1])
    try:
        port = int(re.search(r":(\d+)/", server.stderr.readline())[1])
        print(json.dumps(asyncio.run(measure(options, port, server.pid, positions, paths, expected))))
    finally:
        server.terminate()
        server.wait(10)


if __name__ == "__main__":
    main()
