"""The slow twin of depths to the next mill: the drawing rule as it is written, on sets of point names.

No parities, no counting of moves, nothing retrograde: what a position is worth with k plies left before the rule makes
it a draw follows from what its successors are worth with k - 1 left, and a mill begins to count anew.
"""

from collections.abc import Iterable

import oracle

_FLIPPED = {"win": "loss", "draw": "draw", "loss": "win"}


class Mills:
    """The turns of a set of positions of the moving phase that is closed under quiet turns, and under mills but for ends."""

    def __init__(self, rules: oracle.Rules, groups: Iterable[Iterable[oracle.Position]]):
        """groups: positions with the same stones, a pair of subspaces each, in an order in which mills lead back."""
        self.reduction = oracle.reduction(rules, symmetric=True)
        self.groups = []
        for group in groups:
            turns = {}
            for position in group:
                key = self.reduction.key(position)
                if key not in turns:
                    turns[key] = self._turns(rules, position)
            self.groups.append(turns)

    def _turns(self, rules, position):
        """What the position is worth if the game is over in it, or the keys that mills and quiet turns lead to."""
        mills, quiet = set(), set()
        for turn, after in oracle.successors(rules, position):
            over = oracle.has_lost(after.own, after.own_hand)
            (mills if turn.removed else quiet).add("over" if over else self.reduction.key(after))
        end = None if mills or quiet else "draw" if oracle.is_drawn(rules, position) else "loss"
        return end, mills, quiet

    def solve(self, limit: int | None) -> dict:
        """{key: (outcome, plies)} at a count of 0: the fewest plies left with which a decided value stands."""
        at_once = {"over": "loss"}  # what a mill leads to, at a count of 0
        found = {}
        for turns in self.groups:
            left = 0
            values = {key: end or "draw" for key, (end, _, _) in turns.items()}
            first = {key: 0 for key, value in values.items() if value != "draw"}
            while left != limit:
                left += 1
                later = {key: self._value(turn, values, at_once) for key, turn in turns.items()}
                # More plies left change no value that is decided.
                assert all(later[key] == values[key] for key in first)
                new = [key for key, value in later.items() if value != "draw" and key not in first]
                first.update(dict.fromkeys(new, left))
                values = later
                if limit is None and not new:
                    break
            found.update({key: (value, first.get(key)) for key, value in values.items()})
            at_once.update(values)
        return found

    @staticmethod
    def _value(turn, values, at_once):
        end, mills, quiet = turn
        if end:
            return end
        replies = {at_once[key] for key in mills} | {values[key] for key in quiet}
        return "win" if "loss" in replies else "draw" if "draw" in replies else "loss"
