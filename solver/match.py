"""Games between players, one or many, and the score."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random

from .adjudication import USUAL_NO_MILL_TURNS, USUAL_REPETITION, DrawRules, LiveGame
from .errors import InputError
from .moves import legal_turns
from .players import Player
from .position import Position, start as empty_board
from .variant import Variant

#: What ends a match's games unless something else is asked for.
MATCH_RULES = DrawRules(repetition=USUAL_REPETITION, no_mill_turns=USUAL_NO_MILL_TURNS)


@dataclass
class Tally:
    """Games counted from one player's side."""

    wins: int = 0
    draws: int = 0
    losses: int = 0

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(self.wins + other.wins, self.draws + other.draws, self.losses + other.losses)


@dataclass
class Score:
    """Score of a match for its first player, by the colour it had; how games ended; how long they were."""

    as_white: Tally = field(default_factory=Tally)
    as_black: Tally = field(default_factory=Tally)
    ends: Counter = field(default_factory=Counter)
    total_plies: int = 0
    longest_plies: int = 0

    @property
    def total(self) -> Tally:
        return self.as_white + self.as_black

    def add(self, game: LiveGame, first_is_white: bool) -> None:
        """Counts a finished game."""
        tally = self.as_white if first_is_white else self.as_black
        if game.end.result == "1/2-1/2":
            tally.draws += 1
        elif (game.end.result == "1-0") == first_is_white:
            tally.wins += 1
        else:
            tally.losses += 1
        self.ends[game.end.kind] += 1
        self.total_plies += len(game.turns)
        self.longest_plies = max(self.longest_plies, len(game.turns))


def play_game(white: Player, black: Player, game: LiveGame, lots: Random) -> LiveGame:
    """Plays a game to its end."""
    while not game.end:
        player = white if game.position.white_to_move else black
        game.play(player.choose(game.position, lots))
    return game


def play_match(
    variant: Variant, first: Player, second: Player, n_games: int, seed: int,
    rules: DrawRules = MATCH_RULES, start: Position | None = None,
) -> Iterator[tuple[LiveGame, bool]]:  # fmt: skip
    """The games of a match and whether the first player had White, which it has in the first game and every second one.

    Game number n depends on the seed and n alone, so a longer match begins with the games of a shorter one.
    """
    if not rules.end_every_game(variant):
        raise InputError(f"a match of {variant.name} needs a drawing rule that ends every game, such as {MATCH_RULES}")
    start = empty_board(variant) if start is None else start
    if not legal_turns(variant, start):
        raise InputError("the game is over in this position")
    for player in (first, second):
        player.require(start)
    for number in range(n_games):
        lots = Random(f"{seed} {number}")
        first_is_white = number % 2 == 0
        white, black = (first, second) if first_is_white else (second, first)
        yield play_game(white, black, LiveGame(variant, rules, start), lots), first_is_white
