"""The page in a browser: whole games by clicking and by keyboard, with every label compared with the tables.

Needs Debian's ``chromium`` and Python's playwright; skipped where one of them is absent.
"""

import random
import re
import shutil
import subprocess
import sys

import pytest
from conftest import ROOT

CHROMIUM = shutil.which("chromium")
if CHROMIUM is None:
    pytest.skip("there is no chromium", allow_module_level=True)
pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
sync_api = pytest.importorskip("playwright.sync_api")

from solver.moves import Turn, format_turn, legal_turns, play
from solver.position import format_own_form, parse_own_form, points_of, start
from solver.query import TableSet
from solver.render import mark
from solver.variant import get_variant

ARGUMENTS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
FLYING = "BB..W.../....W.../...W...B"


@pytest.fixture(scope="module")
def address(small_tables):
    words = [sys.executable, "-c", "from solver.cli import main; main()", "serve", "--port", "0", "--data", str(small_tables)]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True, cwd=ROOT) as server:
        yield re.search(r"http://\S+", server.stderr.readline())[0]
        server.terminate()


@pytest.fixture(scope="module")
def chromium():
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def open_page(chromium, address):
    """Opens the page at a link; fails at the end if a script failed or anything outside was asked for."""
    contexts, complaints = [], []

    def opened(link="", width=1280, height=900, scheme="light"):
        context = chromium.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda message: complaints.append(message.text) if "Content Security Policy" in message.text else None)
        page.on("request", lambda request: None if request.url.startswith(address) else complaints.append(request.url))
        page.set_default_timeout(20000)
        page.goto(address + link)
        page.wait_for_selector("html[data-ready]")
        return Board(page)

    yield opened
    for context in contexts:
        context.close()
    assert not complaints


class Board:
    """What a person sees and does."""

    def __init__(self, page):
        self.page = page

    @property
    def position(self):
        return self.page.locator('input[data-kind="Position"]').evaluate("field => field.value")

    def wait_for(self, position):
        """Until the page shows a position, in own form."""
        self.page.wait_for_function(
            "wanted => document.querySelector('input[data-kind=\"Position\"]')?.value === wanted", arg=position
        )

    def labels(self):
        """Point -> label of all points that can be pressed."""
        return self.page.evaluate(
            """Object.fromEntries([...document.querySelectorAll('.point.legal')].map(
                p => [p.dataset.point, p.querySelector('text').textContent]))"""
        )

    def turns(self):
        """The list of turns: text and badge, best first."""
        return self.page.evaluate(
            "[...document.querySelectorAll('#turns button')].map(b => [b.dataset.turn, b.querySelector('.badge').textContent])"
        )

    def point(self, name):
        return self.page.locator(f'[data-point="{name}"]')

    def press(self, name):
        self.point(name).click()

    def press_anyway(self, name):
        """A click of the mouse, whether or not the point is for pressing."""
        self.point(name).click(force=True)

    def click(self, identifier):
        self.page.click(f"#{identifier}")

    def text(self, identifier):
        return self.page.inner_text(f"#{identifier}")


def names_of(variant, points):
    return {variant.board.points[p] for p in points}


def compare(board, tables, position):
    """Everything the page says of a position, no stone being chosen, with what the tables say."""
    variant = tables.variant
    name = variant.board.points
    board.wait_for(format_own_form(position, variant))
    ranked = tables.moves(position)
    assert board.turns() == [[format_turn(variant.board, r.turn), mark(r.value)] for r in ranked]
    best = {}
    for r in ranked:
        origin, target, captured = r.turn
        point = captured if target is None else target if origin is None else origin
        with_removal = "x" * (target is not None and origin is None and captured is not None)
        best.setdefault(name[point], mark(r.value) + with_removal)
    assert board.labels() == best
    stones = [set(board.page.locator(f".point.{side}").evaluate_all("all => all.map(p => p.dataset.point)")) for side in ("white", "black")]
    assert stones == [names_of(variant, points_of(position.white)), names_of(variant, points_of(position.black))]
    assert board.page.locator("#verdict-badge").inner_text() == mark(tables.value_or_unknown(position))
    return ranked


def make(board, tables, position, turn):
    """Makes a turn by clicking, with a look at the choices on the way; returns the position after it."""
    variant = tables.variant
    name = variant.board.points
    if turn.origin is not None:
        board.press(name[turn.origin])
        chosen = [r for r in tables.moves(position) if r.turn.origin == turn.origin]
        labels, best = board.labels(), {}
        for r in chosen:
            best.setdefault(name[r.turn.target], mark(r.value) + "x" * (r.turn.captured is not None))
        assert {point: label for point, label in labels.items() if label} == best
    if turn.target is not None:
        board.press(name[turn.target])
    if turn.captured is not None and turn.target is not None:
        position = play(variant, position, Turn(turn.origin, turn.target))
        compare(board, tables, position)
        assert "which stone goes" in board.text("verdict")
        turn = Turn(captured=turn.captured)
    if turn.captured is not None:
        board.press(name[turn.captured])
    return play(variant, position, turn)


# ---------------------------------------------------------------- whole games


@pytest.mark.parametrize("seed", [1, 2])
def test_a_whole_game_of_six(open_page, small_tables, seed):
    """White plays well, Black now and then at random: true values at every ply, from the empty board to the end."""
    rng = random.Random(seed)
    board = open_page("#variant=six")
    with TableSet(small_tables, "six") as tables:
        position, kinds = start(tables.variant), set()
        for _ in range(120):
            ranked = compare(board, tables, position)
            if not ranked:
                break
            turn = ranked[0].turn if position.white_to_move else rng.choice(ranked).turn
            kinds.add((turn.origin is not None, turn.captured is not None))
            position = make(board, tables, position, turn)
        assert not legal_turns(tables.variant, position)
        assert "Black has lost" in board.text("verdict")
        assert kinds == {(False, False), (False, True), (True, False), (True, True)}
        # The list of the game knows the value of every turn, and a link shows the same game.
        again = open_page("#" + board.page.url.partition("#")[2])
        again.wait_for(format_own_form(position, tables.variant))
        all_known = "document.querySelectorAll('#game .badge').length === document.querySelectorAll('#game li').length - 1"
        again.page.wait_for_function(f"() => {all_known}")
        values = "[...document.querySelectorAll('#game button')].map(b => b.innerText.split(/\\s+/).join(' '))"
        assert again.page.evaluate(values) == board.page.evaluate(values)


def test_nine_through_the_placing_without_tables(open_page, small_tables):
    """Each ply of the placing can be played; the missing table is named, and unknown is never called a draw."""
    rng = random.Random(5)
    board = open_page("#variant=nine")
    with TableSet(small_tables, "nine") as tables:
        position = start(tables.variant)
        while position.white_hand or position.black_hand:
            ranked = compare(board, tables, position)
            note = board.text("note")
            assert f"{position.subspace.name}" in note and "missing" in note and "unknown" in note and "not a draw" in note
            assert "Draw" not in board.text("verdict")
            assert board.text("depths") == f"Table {position.subspace.name} is missing."
            assert board.page.is_disabled("#best")
            position = make(board, tables, position, rng.choice([r.turn for r in ranked]))
        ranked = compare(board, tables, position)
        position = make(board, tables, position, ranked[-1].turn)
        compare(board, tables, position)


# ---------------------------------------------------------------- single turns


def test_capture_choice(open_page, small_tables):
    board = open_page(f"#variant=nine&position={FLYING}+b+0,0")
    board.press("c4")
    assert board.labels()["g7"] == "W1x"
    board.press("g7")
    board.wait_for("BBB.W.../....W.../...W.... b 0,0 x")
    assert board.labels() == {"e4": "W1", "f2": "W1", "g1": "W1"}
    assert "which stone goes" in board.text("verdict")
    for name in ("g7", "d7", "c4", "d3"):  # own stones and free points
        assert board.point(name).get_attribute("aria-disabled") == "true"
        board.press_anyway(name)
    assert board.position.endswith("b 0,0 x")
    board.press("f2")
    board.wait_for("BBB.W.../......../...W.... w 0,0")
    assert "White has lost" in board.text("verdict") and board.labels() == {}
    board.click("back")
    board.wait_for("BBB.W.../....W.../...W.... b 0,0 x")
    board.click("back")
    board.wait_for(f"{FLYING} b 0,0")
    board.click("forward")
    board.wait_for("BBB.W.../....W.../...W.... b 0,0 x")


def test_flying(open_page, small_tables):
    board = open_page(f"#variant=nine&position={FLYING}+w+0,0")
    assert board.labels() == {"e4": "W9", "f2": "W17", "g1": "L4"}
    board.press("e4")
    labels = board.labels()
    assert {p for p, label in labels.items() if label} == set(get_variant("nine").board.points) - {"a7", "d7", "c4", "e4", "f2", "g1"}
    assert labels["g7"] == "W9"
    board.press("f2")  # another stone
    assert board.labels()["g7"] == "W17" and board.point("f2").get_attribute("aria-pressed") == "true"
    board.press("f2")  # none
    assert board.labels() == {"e4": "W9", "f2": "W17", "g1": "L4"}
    board.press("e4")
    board.press("g7")
    board.wait_for("BBW.W.../....W.../.......B b 0,0")
    assert board.page.locator("#verdict-badge").inner_text() == "L8"


def test_illegal_points_cannot_be_pressed(open_page):
    board = open_page(f"#variant=nine&position={FLYING}+w+0,0")
    for name in ("a7", "d7", "c4", "d6", "a1"):
        assert board.point(name).get_attribute("aria-disabled") == "true"
        board.press_anyway(name)
        board.point(name).focus()
        board.page.keyboard.press("Enter")
    assert board.position == f"{FLYING} w 0,0" and len(board.page.query_selector_all("#game li")) == 1


def test_keyboard(open_page):
    board = open_page("#variant=nine")
    keys, focused = board.page.keyboard, "document.activeElement.dataset.point"
    board.page.focus("#variant")
    keys.press("Tab")
    assert board.page.evaluate(focused) == "a7"
    for way, point in (("Right", "d7"), ("Down", "d6"), ("Left", "b6"), ("Down", "b4"), ("Right", "c4"), ("Up", "c5")):
        keys.press(f"Arrow{way}")
        assert board.page.evaluate(focused) == point
    keys.press("Enter")
    board.wait_for("......../......../W....... b 8,9")
    assert board.page.evaluate(focused) == "c5"  # the focus stays where the turn was made
    keys.press("Tab")
    assert board.page.evaluate(focused) == "d5"  # c5 can no longer be pressed, d5 comes next
    keys.press(" ")
    board.wait_for("......../......../WB...... w 8,8")
    board = open_page(f"#variant=nine&position={FLYING}+w+0,0")
    board.point("g1").focus()
    board.page.keyboard.press("Enter")
    assert board.point("g1").get_attribute("aria-pressed") == "true"
    board.page.keyboard.press("Escape")
    assert board.point("g1").get_attribute("aria-pressed") == "false"


def test_points_say_what_they_are(open_page):
    board = open_page(f"#variant=nine&position={FLYING}+b+0,0")
    labels = {name: board.point(name).get_attribute("aria-label") for name in ("c4", "e4", "d6")}
    assert labels == {"c4": "c4, black stone, move this stone: win in 1 ply", "e4": "e4, white stone", "d6": "d6, free"}
    board.press("c4")
    assert board.point("g7").get_attribute("aria-label") == "g7, free, the chosen stone goes here, closes a mill: win in 1 ply"


def test_labels_need_no_colour(open_page):
    """Win, draw, loss and unknown differ in letter and in outline."""
    board = open_page("#variant=six&moves=a5+c5+e5+e3+e1+c1")
    outlines = {}
    for name, label in board.labels().items():
        outlines[label[0]] = board.point(name).locator(".badge-shape").get_attribute("d")
    board = open_page(f"#variant=nine&position={FLYING}+w+0,0")
    outlines["W"] = board.point("e4").locator(".badge-shape").get_attribute("d")
    assert set(outlines) == {"D", "L", "W"}
    assert "A" in outlines["W"] and outlines["D"].count("L") == 0 and outlines["L"].count("L") == 3
    board = open_page("#variant=nine")
    dashes = board.point("d6").locator(".badge-shape").evaluate("shape => getComputedStyle(shape).strokeDasharray")
    assert dashes != "none"


# ---------------------------------------------------------------- the rest of the page


def test_turn_list_plays_and_best_line(open_page):
    board = open_page(f"#variant=nine&position={FLYING}+w+0,0")
    board.page.click("#line-panel summary")
    board.page.wait_for_selector("#line button")
    line = board.page.evaluate("[...document.querySelectorAll('#line .badge')].map(badge => badge.textContent)")
    assert line == ["W9", "L8", "W7", "L6", "W5", "L4", "W3", "L2", "W1"]
    board.page.hover("#turns button >> nth=0")
    assert board.page.locator(".preview .goal").count() == 1
    board.page.click("#turns button >> nth=0")
    board.wait_for("BBW.W.../....W.../.......B b 0,0")
    board.click("best")
    board.page.wait_for_function("() => document.querySelectorAll('#game li').length === 3")
    board.page.click("#game button >> nth=0")
    board.wait_for(f"{FLYING} w 0,0")
    board.page.wait_for_function("() => document.querySelectorAll('#line button').length === 9")
    board.page.click("#line button >> nth=8")
    board.page.wait_for_function("() => document.getElementById('verdict').innerText.includes('Black has lost')")


def test_mirror_rotate_and_inside_out_keep_values_and_the_game(open_page, small_tables):
    with TableSet(small_tables, "six") as tables:
        board = open_page("#variant=six&moves=a5+c4+e3+b3+d2")
        seen = {board.position}
        for button, times in (("mirror", 2), ("rotate", 4), ("turn-out", 2)):
            for _ in range(times):
                before = board.position
                labels = sorted(board.labels().values())
                board.click(button)
                board.page.wait_for_function("was => document.querySelector('input[data-kind=\"Position\"]').value !== was", arg=before)
                position = parse_own_form(board.position, tables.variant)
                compare(board, tables, position)
                assert sorted(board.labels().values()) == labels
                seen.add(board.position)
        assert len(seen) == 1 + 1 + 3 + 1
        board.click("rotate")
        board.click("back")
        board.page.wait_for_function("() => document.querySelector('#game li:nth-child(5) button').hasAttribute('aria-current')")
        assert board.position.endswith("w 4,4")
    # From a link in another notation, while the steps before are still being asked for.
    sanmill = "**O***@*/***O****/@**O***@ w m s 3 0 3 0 0 0 -1 -1 -1 -1 0 0 10 ids:nodes"
    board = open_page(f"#variant=nine&position={sanmill.replace(' ', '+')}&moves=e4-g7+a7-a1")
    board.click("rotate")
    board.wait_for("B..BW.W./......W./.B...... w 0,0")
    board.click("back")
    board.click("back")
    board.page.wait_for_function("() => document.querySelector('#game li:nth-child(1) button').hasAttribute('aria-current')")
    board.wait_for("..BB..W./......W./.B...W.. w 0,0")
    assert board.labels() == {"d3": "W9", "b2": "W17", "a1": "L4"}


def test_swap_sides(open_page):
    board = open_page(f"#variant=nine&position={FLYING}+w+0,0")
    board.click("swap")
    swapped = FLYING.translate(str.maketrans("WB", "BW"))
    board.wait_for(f"{swapped} b 0,0")
    assert board.labels() == {"e4": "W9", "f2": "W17", "g1": "L4"}
    board.click("back")
    board.wait_for(f"{FLYING} w 0,0")
    # White begins, so an unfinished placing cannot be swapped: the reason is said and nothing is lost.
    board = open_page("#variant=six&moves=a5")
    board.click("swap")
    board.page.wait_for_selector("#notice:not([hidden])")
    assert "fit no order of play" in board.text("notice")
    assert board.position == "W......./........ b 5,6"


@pytest.mark.parametrize(
    "text, position, plies",
    [
        ("1. d6 f4 {so far} 2. b4 g4", ".....W.W/.W.B...../........", 4),
        ("4 14 11", None, 3),
        (f"{FLYING} b 0,0", f"{FLYING} b 0,0", 0),
        (f"MFEN/1.0 mill24-state-v1 {FLYING} w m m 0,0 - 0 18 -", f"{FLYING} w 0,0", 0),
        ("**O***@*/***O****/@**O***@ w m s 3 0 3 0 0 0 -1 -1 -1 -1 0 0 10 ids:nodes", f"{FLYING} w 0,0", 0),
    ],
)
def test_paste(open_page, text, position, plies):
    board = open_page("#variant=nine")
    board.page.fill("#pasted", text)
    board.page.click("#paste button")
    board.page.wait_for_function("() => document.getElementById('pasted').value === ''")
    if position and plies == 0:
        board.wait_for(position)
    assert len(board.page.query_selector_all("#game li")) == 2 + plies
    board.click("back")
    board.page.wait_for_function("number => document.querySelectorAll('#game button')[number].hasAttribute('aria-current')", arg=plies)


def test_what_cannot_be_read_is_refused_with_the_reason(open_page):
    board = open_page("#variant=nine&moves=d6")
    before = board.position
    for text, reason in (("d6 d6", "Ply 2: d6 is occupied (turn d6)."), ("W/B w", "points")):
        board.page.fill("#pasted", text)
        board.page.click("#paste button")
        board.page.wait_for_function("part => document.getElementById('notice').innerText.includes(part)", arg=reason)
        assert board.position == before and board.page.input_value("#pasted") == text
    board = open_page("#variant=nine&moves=d6+d6")
    assert "d6 is occupied" in board.text("notice") and board.position.endswith("w 9,9")
    assert "no game called chess" in open_page("#variant=chess").text("notice")


def test_link_reproduces_the_position(open_page):
    board = open_page(f"#variant=nine&position={FLYING}+w+0,0")
    board.press("e4")
    board.press("g7")
    board.wait_for("BBW.W.../....W.../.......B b 0,0")
    link = board.page.locator('input[data-kind="Link"]').evaluate("field => field.value")
    assert link == board.page.url
    again = open_page("#" + link.partition("#")[2])
    assert again.position == board.position and again.labels() == board.labels()
    again.click("back")
    again.wait_for(f"{FLYING} w 0,0")


def test_what_cannot_arise_is_marked(open_page):
    board = open_page("#variant=six&position=WWW...../BBB.....+w+3,3")
    assert board.text("note").startswith("Cannot arise in play: White has more mills than")


def test_depths(open_page, nine_store):
    from solver.subspace import Subspace

    board = open_page(f"#variant=nine&position={FLYING}+w+0,0")
    board.page.wait_for_selector(".histogram")
    histogram = nine_store.table(Subspace(3, 3)).histogram()
    decided = int((histogram > 0).sum()) - int(histogram[128] > 0)
    assert board.page.locator(".histogram rect").count() == decided
    assert board.page.locator(".histogram rect.here title").text_content().startswith("win in 9 plies: ")
    assert f"{int(histogram.sum()):,} positions" in board.text("depths")
    assert board.text("depths-title") == "Depths in 3-3"


@pytest.mark.parametrize("variant", ["nine", "morabaraba", "six", "three"])
def test_all_boards(open_page, variant):
    game = get_variant(variant)
    board = open_page(f"#variant={variant}")
    assert set(board.labels()) == set(game.board.points)
    assert board.page.locator(".edge").count() == len(game.board.edges)
    place_of = "p => { const b = p.querySelector('.dot').getBoundingClientRect(); return [p.dataset.point, b.x, b.y]; }"
    places = board.page.locator(".point").evaluate_all(f"all => all.map({place_of})")
    for a, ax, ay in places:
        for b, bx, by in places:
            assert (a[0] < b[0]) == (ax < bx - 1) and (a[1] > b[1]) == (ay < by - 1)
    board.page.select_option("#variant", "six")
    board.wait_for("......../........ w 6,6")


@pytest.mark.parametrize("width", [320, 375, 768, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_fits_the_screen(open_page, width, scheme):
    board = open_page(f"#variant=nine&position={FLYING}+w+0,0", width=width, height=740, scheme=scheme)
    page = board.page
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("Math.min(...[...document.querySelectorAll('.point .hit')].map(p => p.getBoundingClientRect().width))") >= 34
    ink, paper = page.evaluate("[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]")
    bright = [sum(map(int, re.findall(r"\d+", colour)[:3])) for colour in (ink, paper)]
    assert (bright[0] < bright[1]) == (scheme == "light") and abs(bright[0] - bright[1]) > 400


def test_first_board_in_under_a_second(open_page):
    open_page("#variant=six")
    times = [open_page("#variant=six").page.evaluate("performance.getEntriesByName('first board')[0].startTime") for _ in range(3)]
    assert min(times) < 1000


def test_a_server_that_is_gone_is_told(open_page):
    board = open_page("#variant=six")
    board.page.route("**/v1/position*", lambda route: route.abort())
    board.press("a5")
    board.page.wait_for_selector("#notice:not([hidden])")
    assert board.text("notice") == "The server does not answer." and board.position == "......../........ w 6,6"
    board.page.unroute("**/v1/position*")
    board.press("a5")
    board.wait_for("W......./........ b 5,6")
