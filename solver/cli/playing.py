"""Commands that play: play, match."""

import json
import sys
from dataclasses import asdict
from itertools import groupby
from random import Random

import click
from tqdm import tqdm

from ..errors import InputError, MorrisError
from ..match import MATCH_RULES
from ..moves import format_turn, parse_turn
from ..notation import parse_moves, parse_position
from ..players import PLAYERS
from ..position import draw_board, format_own_form
from ..values import Outcome
from . import data_option, variant_options

PLAYER = click.Choice(list(PLAYERS))
#: Turns that a hint names at most.
MOST_HINTS = 8
HELP = """\
a turn      c5, c5-d5, with xb4 behind it for the stone it removes, or PlayOK numbers
hint        what the position is worth, and the best turns
moves       all turns, best first
board       the board, and the position to copy
back        take back your last turn and the answer to it
quit        leave the game"""


def draw_rule_options(repetition: int = 0, no_mill_plies: int = 0, no_mill_turns: int = 0):
    """The three drawing rules; the command receives three numbers, 0 for a rule that is off."""

    def decorate(command):
        for name, default, text in (
            ("--no-mill-turns", no_mill_turns, "Draw after so many moving turns in a row without a mill, usually 50."),
            ("--no-mill-plies", no_mill_plies, "Draw after so many plies without a mill, usually 120; told at half."),
            ("--repetition", repetition, "Draw when a position is there for the Nth time, usually 3."),
        ):
            text += f"  [default: {default or 'off'}]"
            command = click.option(name, metavar="N", type=click.IntRange(0), default=default, help=text)(command)
        return command

    return decorate


@click.command()
@click.argument("position", required=False)
@click.option("--moves", help="The turns so far, from the empty board.")
@click.option(
    "--as", "colour", type=click.Choice(["white", "black"]), default="white", show_default=True, help="Your colour."
)
@click.option(
    "--against", type=PLAYER, default="perfect", show_default=True,
    help="Your opponent; 'morris match --help' says what they are.",
)  # fmt: skip
@click.option("--hints", is_flag=True, help="Say at every turn what the position is worth.")
@click.option("--seed", type=int, help="For the lots the opponent draws; the same seed, the same game.")
@draw_rule_options()
@data_option
@variant_options
def play(
    variant, data, position, moves, colour, against, hints, seed, repetition, no_mill_plies, no_mill_turns
) -> None:  # fmt: skip
    """Play a game against the tables, from the empty board or a position.

    Turns are typed, or come from a pipe; 'help' in the game lists the other words.  The opponents random and sparring
    need no tables; where one is missing, hints say so and the game goes on.

    \b
    morris play --as black --hints
    morris play -V six --against sparring --repetition 3
    """
    from ..adjudication import DrawRules, LiveGame
    from ..players import get_player
    from ..query import open_tables

    if position is not None and moves is not None:
        raise InputError("give a position or --moves, not both")
    rules = DrawRules(repetition, no_mill_plies, no_mill_turns)
    if moves is not None:
        record = parse_moves(moves, variant)
        game = LiveGame(variant, rules, record.start, record.turns)
    else:
        game = LiveGame(variant, rules, None if position is None else parse_position(position, variant))
    with open_tables(data, variant) as tables:
        opponent = get_player(against, tables)
        opponent.require(game.position)
        Session(game, tables, opponent, colour == "white", hints, Random(seed)).run()


class Session:
    """A game between a person, at the terminal or behind a pipe, and a player."""

    def __init__(self, game, tables, opponent, white: bool, hints: bool, lots: Random):
        self.game, self.tables, self.opponent, self.lots = game, tables, opponent, lots
        self.variant, self.white, self.hints = game.variant, white, hints
        #: Turns that were there before the first question; they are not taken back.
        self.n_given = 0

    def run(self) -> None:
        """Plays until the person leaves or there is no more input; prints the record at the end, whatever happens."""
        colour = "White" if self.white else "Black"
        click.echo(
            f"{self.variant.name}, {colour} against {self.opponent.name}; "
            f"drawn by: {self.game.rules}; 'help' lists the words."
        )
        if hasattr(sys.stdin, "reconfigure"):
            sys.stdin.reconfigure(errors="backslashreplace")  # what is no text is no turn, and is told so
        try:
            self.go_on()
            self.n_given = len(self.game.turns)
            while (text := self.ask()) != "quit":
                try:
                    self.obey(text)
                except InputError as error:
                    click.echo(f"No: {error}.")
        finally:
            click.echo(f"Moves: {self.game.record()}")

    def ask(self) -> str:
        """A line of input, in small letters; the end of input is ``quit``."""
        prompt = "game over" if self.game.end else self.game.position.own_name
        try:
            text = input(f"{prompt}> ").strip()
        except (EOFError, KeyboardInterrupt) as error:
            click.echo()
            if isinstance(error, KeyboardInterrupt):
                raise
            return "quit"
        if not sys.stdin.isatty():
            click.echo(text)  # so that the transcript of a pipe can be read
        return text.lower()

    def obey(self, text: str) -> None:
        """Does what was typed; an `InputError` says why it cannot be done."""
        words = {"hint": self.hint, "moves": self.list_turns, "board": self.board, "back": self.back}
        if text in words:
            words[text]()
        elif text in ("help", "?"):
            click.echo(HELP)
        elif text and self.game.end:
            raise InputError("the game is over; 'back' takes back your last turn")
        elif text:
            turn = parse_turn(text, self.variant, self.game.position)
            if self.hints:
                self.tell_loss(turn)
            self.make(turn)
            self.go_on()

    def make(self, turn) -> None:
        self.game.play(turn)
        if self.game.notice:
            click.echo(f"{self.game.notice}.")

    def go_on(self) -> None:
        """Lets the opponent answer, and shows what the person is to answer in turn."""
        game = self.game
        if not game.end and game.position.white_to_move != self.white:
            turn = self.opponent.choose(game.position, self.lots)
            click.echo(f"{game.position.own_name} plays {format_turn(self.variant.board, turn)}")
            self.make(turn)
        self.show()

    def show(self) -> None:
        click.echo(draw_board(self.game.position, self.variant))
        if self.game.end:
            click.echo(f"Game over, {self.game.end.result}: {self.game.end.reason}.")
        elif self.hints:
            self.hint()

    def board(self) -> None:
        self.show()
        click.echo(format_own_form(self.game.position, self.variant))

    def back(self) -> None:
        """Takes back turns until the person has the choice again that was the last one."""
        game = self.game
        if len(game.turns) == self.n_given:
            raise InputError("there is no turn of yours to take back")
        game.back()
        if game.position.white_to_move != self.white:
            game.back()
        self.show()

    # ---------------------------------------------------------------- what the tables know

    def hint(self) -> None:
        from ..render import describe_value
        from ..worth import could_equal

        if self.game.end:
            raise InputError("the game is over")
        position = self.game.position
        try:
            value = self.tables.probe(position)
            ranked = self.tables.moves(position)
        except MorrisError as error:  # missing or damaged: the game goes on without
            click.echo(f"Value unknown: {error}.")
            return
        best = [format_turn(self.variant.board, entry.turn) for entry in ranked if could_equal(entry.value, value)]
        more = " ..." if len(best) > MOST_HINTS else ""
        turns = " ".join(best[:MOST_HINTS]) + more if best else "unknown, a table is missing"
        click.echo(f"{describe_value(self.variant, position, value)} Best turns, {len(best)} of {len(ranked)}: {turns}")

    def list_turns(self) -> None:
        """All turns, those of the same value on one line."""
        if self.game.end:
            raise InputError("the game is over")
        for value, entries in groupby(self.tables.moves(self.game.position), lambda entry: entry.value):
            turns = " ".join(format_turn(self.variant.board, entry.turn) for entry in entries)
            click.echo(f"{_in_words(value)}: {turns}")

    def tell_loss(self, turn) -> None:
        """Says so where a turn lets go of a value."""
        try:
            ranked = self.tables.moves(self.game.position)
        except MorrisError:
            return  # the hint before has said it
        best, made = ranked[0].outcome, next(entry.outcome for entry in ranked if entry.turn == turn)
        if Outcome.UNKNOWN not in (made, ranked[-1].outcome) and made is not best:
            click.echo(f"That turn makes a {best} a {made}.")


def _in_words(value) -> str:
    """``win in 3 plies, 2 own turns``."""
    if value.dtw_plies is None:
        return str(value.outcome)
    plies, turns = value.dtw_plies, value.own_turns
    return f"{value.outcome} in {plies} {'plies' if plies > 1 else 'ply'}, {turns} own turn{'s' * (turns > 1)}"


# ---------------------------------------------------------------- match

@click.command()
@click.argument("first", type=PLAYER)
@click.argument("second", type=PLAYER)
@click.option("--games", type=click.IntRange(1), default=100, show_default=True, help="How many; sides alternate.")
@click.option("--seed", type=int, default=1, show_default=True, help="The same seed, the same games.")
@click.option("--position", help="Begin every game here instead of on the empty board.")
@click.option("--json", "as_json", is_flag=True, help="Print the score as JSON.")
@draw_rule_options(**asdict(MATCH_RULES))
@data_option
@variant_options
def match(
    variant, data, first, second, games, seed, position, as_json, repetition, no_mill_plies, no_mill_turns
) -> None:  # fmt: skip
    """Let two players play many games, and print the score of the first.

    \b
    perfect   never lets go of a value, and needs all tables of the game
    sparring  looks one step ahead, by simple weights
    random    takes any turn

    Draws in the tables have no end, so a drawing rule must end them.  Unless something else is asked for, the same
    position for the third time is a draw, and so are 50 moving turns in a row without a mill; 0 switches a rule off.

    \b
    morris match perfect sparring --games 200 --seed 1
    morris match sparring random -V six --json
    """
    from ..adjudication import DrawRules
    from ..match import Score, play_match
    from ..players import get_player
    from ..query import open_tables

    rules = DrawRules(repetition, no_mill_plies, no_mill_turns)
    start = None if position is None else parse_position(position, variant)
    score = Score()
    with open_tables(data, variant) as tables:
        players = [get_player(name, tables) for name in (first, second)]
        played = play_match(variant, *players, games, seed, rules, start)
        bar = tqdm(played, total=games, unit="game", leave=False, disable=not sys.stderr.isatty())
        for game, first_is_white in bar:
            score.add(game, first_is_white)
    if as_json:
        click.echo(json.dumps(_score_data(variant, first, second, games, seed, position, rules, score)))
    else:
        click.echo(f"{variant.name}, {first} against {second}, {games} game{'s' * (games > 1)}, seed {seed}")
        click.echo(f"drawn by: {rules}")
        click.echo(_score_text(first, score))


def _score_text(name: str, score) -> str:
    width = max(len(name), len("as White"))
    lines = [f"{name:{width}}  wins  draws  losses"]
    for title, tally in (("as White", score.as_white), ("as Black", score.as_black), ("all", score.total)):
        lines.append(f"{title:{width}}  {tally.wins:4}  {tally.draws:5}  {tally.losses:6}")
    n = sum(score.ends.values())
    lines.append("ends: " + ", ".join(f"{kind} {count}" for kind, count in sorted(score.ends.items())))
    lines.append(f"plies a game: {score.total_plies / n:.1f}, at most {score.longest_plies}")
    return "\n".join(lines)


def _score_data(variant, first, second, games, seed, position, rules, score) -> dict:
    return {
        "variant": variant.name,
        "players": [first, second],
        "games": games,
        "seed": seed,
        "position": position,
        "rules": asdict(rules),
        "score": {"white": asdict(score.as_white), "black": asdict(score.as_black), "all": asdict(score.total)},
        "ends": dict(sorted(score.ends.items())),
        "plies": {"mean": round(score.total_plies / games, 2), "longest": score.longest_plies},
    }
