"""Depth to the next mill: plies until either side closes a mill or the game ends, with or without a limit.

The winner hurries and the loser delays, and a mill counts by the outcome of the position it leads to.  With a limit
of N moving turns without a mill, a win in d plies can be forced after c such turns exactly where d <= N - c: the last
of the d plies closes a mill or ends the game, and before that the count has not come to N.  A mill sets the count to
0, so what it leads to counts as the table there has it, at 0; and a table has as draws what is deeper than N.

**Two passes.**  A pass (see `retrograde`) knows odd wins and even losses only, but a loser who has no turn but mills has
lost in 1.  So it runs twice from the same conversions: once a loser's mill counts as a loss in 2, once as a loss in 0.
Let up(d) be the least depth of the right parity, odd for a win and even for a loss, that is no less than d, and down(d)
the greatest that is no more.  Both agree with what defines d:

    a loss is the greatest of 1 + (the win's depth) over quiet turns, and of 1 where there is a mill
    a win is the least of 1 + (the loss's depth) over quiet turns, and of 1 where a mill wins

because rounding does not change the order of depths, so it goes through greatest and least, and because 1 + d of the
other side's parity rounds as d does: up(1 + d) = 1 + up(d), down(1 + d) = 1 + down(d).  What is left are the mills: a
winner's 1 stays 1, and a loser's 1 becomes 2 or 0.  So the passes give up(d) and down(d), whose mean is d.
"""

import numpy as np

from .errors import DepthOverflowError, MorrisError
from .jit import Workers
from .metric import Metric
from .retrograde import pair_conversions, settle
from .subspace import Subspace, solved_together
from .values import DTYPES, LOST, code_of_depth, codes_to_mill, depths_of, draw_code
from .variant import Variant

#: Slots that are joined at a time.
PART = 1 << 20


def solve_to_mill(
    variant: Variant, subspace: Subspace, width: int, load, workers: Workers, metric: Metric, progress=None
) -> dict[Subspace, np.ndarray]:
    """Depths to the next mill of a pair, as {subspace: flat array}, in as few bytes as they fit.

    ``load(subspace, rows_own)`` gives the outcomes of finished tables as codes of a loss in 0, a draw and a win in 1;
    ``width``: bytes of a value in the passes, `DepthOverflowError` where these do not do.
    """
    metric.require(variant)
    report = progress or (lambda share: None)
    together = solved_together(variant, subspace)
    first, *up = pair_conversions(variant, together[0], width, load, workers, report)
    down = [values.copy() for values in up]
    for values in down:
        values[values == code_of_depth(2, width)] = LOST
    settle(variant, first, width, *up, workers, lambda share: report(0.2 + 0.4 * share))
    settle(variant, first, width, *down, workers, lambda share: report(0.6 + 0.4 * share))
    n_tables = len(together)
    pairs = list(zip(up, down))[:n_tables]
    deepest = max(max(_in_parts(lambda a, b, p=p: int(_depths(*p, a, b).max()), p[0], workers)) for p in pairs)
    if metric.limit is not None:
        deepest = min(deepest, metric.limit)
    fitting = [w for w in DTYPES if deepest <= metric.max_depth(w)]
    if not fitting:
        raise DepthOverflowError(f"{together[0].name} has mills {deepest} plies away")
    tables = [_joined(*p, fitting[0], metric, workers) for p in pairs]
    return dict(zip((first, first.twin), tables))


def _in_parts(function, values: np.ndarray, workers: Workers) -> list:
    """Results of function(start, stop) over parts of the slots."""
    starts = range(0, len(values), PART)
    return list(workers.pool.map(lambda start: function(start, min(start + PART, len(values))), starts))


def _depths(up: np.ndarray, down: np.ndarray, start: int, stop: int) -> np.ndarray:
    """Depths of the slots [start, stop), int32; -1 for draws."""
    width = up.itemsize
    draw = draw_code(width)
    codes = [values[start:stop].astype(np.int32) for values in (up, down)]
    if np.any(np.sign(codes[0] - draw) != np.sign(codes[1] - draw)):
        raise MorrisError("two passes disagree on an outcome; the machine may be faulty, build again")
    rounded = [depths_of(code, width) for code in codes]
    return np.where(codes[0] == draw, -1, (rounded[0] + rounded[1]) // 2)


def _joined(up: np.ndarray, down: np.ndarray, width: int, metric: Metric, workers: Workers) -> np.ndarray:
    """Codes of depths to the next mill, of ``width`` bytes, from those of both passes."""
    out = np.empty(len(up), DTYPES[width])

    def join(start: int, stop: int) -> None:
        depths = _depths(up, down, start, stop)
        if metric.limit is not None:
            depths[depths > metric.limit] = -1
        out[start:stop] = codes_to_mill(up[start:stop] > draw_code(up.itemsize), depths, width)

    _in_parts(join, up, workers)
    return out
