"""A game being played, with the drawing rules of tables and servers.

These rules are no part of the game, and no table knows them: they are settings of one game, all off by default.  Where
the game itself is over, by too few stones or without a turn, that counts and no drawing rule is asked.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from .errors import InputError
from .moves import Turn, check_turn, closes_mill, is_over, legal_turns, no_turn_outcome, play
from .notation import format_moves
from .position import Position, format_own_form, start as empty_board
from .render import end_reason
from .variant import Variant

#: The numbers that tables and servers use.
USUAL_REPETITION, USUAL_NO_MILL_TURNS = 3, 50


@dataclass(frozen=True)
class DrawRules:
    """When a game is declared drawn; 0 switches a rule off.

    ``repetition``: the same points with the same side to move for that time, usually the third; the position that the
    game begins with counts, stones in hand do not matter.
    ``no_mill_plies``: so many plies of both sides together without a mill closed, usually 120, announced at half of it.
    ``no_mill_turns``: so many consecutive moving turns of both sides together without a mill closed, usually 50.
    Placements do not count; they interrupt nothing either, but a mill does, also one closed by placing.

    >>> str(DrawRules(repetition=3, no_mill_turns=50))
    'the same position 3 times, 50 moving turns without a mill'
    """

    repetition: int = 0
    no_mill_plies: int = 0
    no_mill_turns: int = 0

    def __post_init__(self) -> None:
        if min(self.repetition, self.no_mill_plies, self.no_mill_turns) < 0:
            raise InputError("a drawing rule counts to a positive number; 0 switches it off")
        if self.repetition == 1:
            raise InputError("every position is there once; a repetition counts from 2, usually to 3")

    def __str__(self) -> str:
        texts = self._repetition_text, self._plies_text, self._turns_text
        numbers = self.repetition, self.no_mill_plies, self.no_mill_turns
        return ", ".join(text for text, number in zip(texts, numbers) if number) or "none"

    @property
    def _repetition_text(self) -> str:
        return f"the same position {self.repetition} times"

    @property
    def _plies_text(self) -> str:
        return f"{self.no_mill_plies} plies without a mill"

    @property
    def _turns_text(self) -> str:
        return f"{self.no_mill_turns} moving turns without a mill"

    def end_every_game(self, variant: Variant) -> bool:
        """Whether no game can go on for ever.

        Where a mill may remove nothing, mills alone can be closed without end, and only repetition helps.
        """
        every_mill_removes = variant.capture_in_mills == "any"
        return bool(self.repetition or every_mill_removes and (self.no_mill_plies or self.no_mill_turns))


class End(NamedTuple):
    """How a game ended: ``1-0`` (White has won), ``0-1`` or ``1/2-1/2``; by what, in one word; and in words.

    ``kind``: stones, blocked or full-board by the rules of the game; repetition, no-mill-plies or no-mill-turns by
    `DrawRules`.
    """

    result: str
    kind: str
    reason: str


class _State(NamedTuple):
    """A position of the game and what the drawing rules count up to it."""

    position: Position
    quiet_plies: int = 0
    quiet_turns: int = 0

    @property
    def key(self) -> tuple[int, int, bool] | None:
        """What repeats; nothing does in the middle of a turn."""
        position = self.position
        return None if position.capture_owed else (position.white, position.black, position.white_to_move)


class LiveGame:
    """A game in play: turns are made and taken back, and it knows when it is over.

    >>> from solver.variant import get_variant
    >>> from solver.moves import parse_turn
    >>> six = get_variant("six")
    >>> game = LiveGame(six, DrawRules(no_mill_plies=2))
    >>> for text in ("a5", "b4"):
    ...     game.play(parse_turn(text, six, game.position))
    >>> game.end
    End(result='1/2-1/2', kind='no-mill-plies', reason='2 plies without a mill')
    >>> game.back(), game.end, game.position.own_name
    (Turn(origin=None, target=8, captured=None), None, 'Black')
    """

    def __init__(
        self, variant: Variant, rules: DrawRules = DrawRules(), start: Position | None = None,
        turns: Iterable[Turn] = (),
    ):  # fmt: skip
        self.variant, self.rules = variant, rules
        self.turns: list[Turn] = []
        self._states = [_State(empty_board(variant) if start is None else start)]
        self._seen = Counter([self._states[0].key])
        self.end = self._end()
        for ply, turn in enumerate(turns, 1):
            try:
                self.play(turn)
            except InputError as error:
                raise InputError(f"ply {ply}: {error}") from None

    @property
    def start(self) -> Position:
        return self._states[0].position

    @property
    def position(self) -> Position:
        return self._states[-1].position

    @property
    def notice(self) -> str | None:
        """What is to be announced now: that half of the plies without a mill are over."""
        half, plies = self.rules.no_mill_plies // 2, self._states[-1].quiet_plies
        if not half or plies != half or self.end:
            return None
        unit = "plies" if plies > 1 else "ply"
        return f"{plies} {unit} without a mill; at {self.rules.no_mill_plies} the game is a draw"

    def play(self, turn: Turn) -> None:
        """Makes a turn of the side to move; an `InputError` says why it cannot be made."""
        variant, (position, quiet_plies, quiet_turns) = self.variant, self._states[-1]
        if self.end:
            raise InputError(f"the game is over: {self.end.reason}")
        check_turn(turn, variant, position)
        following = play(variant, position, turn)
        # A mill counts also where it removes nothing, and a removal that was still owed belongs to one.
        if turn.captured is not None or closes_mill(variant.board, position.own_mask, turn.origin, turn.target):
            state = _State(following)
        else:
            state = _State(following, quiet_plies + 1, quiet_turns + (turn.origin is not None))
        self.turns.append(turn)
        self._states.append(state)
        self._seen[state.key] += 1
        self.end = self._end()

    def back(self) -> Turn:
        """Takes back the last turn and returns it."""
        if not self.turns:
            raise InputError("there is no turn to take back")
        self._seen[self._states.pop().key] -= 1
        self.end = None  # nobody could play on after an end
        return self.turns.pop()

    def record(self) -> str:
        """The turns with move numbers, as `parse_moves` reads them, and the result if there is one."""
        words = []
        if self.start != empty_board(self.variant):
            words.append(f'[FEN "{format_own_form(self.start, self.variant)}"]')
        words.append(format_moves(self.turns, self.variant, black_first=not self.start.white_to_move))
        words.append(self.end.result if self.end else "*")
        return " ".join(filter(None, words))

    def _end(self) -> End | None:
        variant, rules = self.variant, self.rules
        position, quiet_plies, quiet_turns = state = self._states[-1]
        if not legal_turns(variant, position):
            reason = end_reason(variant, position)
            if no_turn_outcome(variant, position) == "draw":
                return End("1/2-1/2", "full-board", reason)
            result = "0-1" if position.white_to_move else "1-0"
            return End(result, "stones" if is_over(variant, position) else "blocked", reason)
        # A rule that is off has the number 0; a counter of 0 is no reason for it to be on.
        if rules.repetition and state.key and self._seen[state.key] >= rules.repetition:
            return End("1/2-1/2", "repetition", rules._repetition_text)
        if 0 < rules.no_mill_plies <= quiet_plies:
            return End("1/2-1/2", "no-mill-plies", rules._plies_text)
        if 0 < rules.no_mill_turns <= quiet_turns:
            return End("1/2-1/2", "no-mill-turns", rules._turns_text)
        return None
