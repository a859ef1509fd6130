"""Boards: points, edges, mills, and the symmetries that follow from them.

A point is a bit.  Bit order is *ring order* (outer ring first, each ring clockwise from its top
left corner), which is also the order of the text form of a position:

    a7(0) ---------- d7(1) ---------- g7(2)
      |   b6(8) ---- d6(9) --- f6(10)   |
      |     |  c5(16) d5(17) e5(18) |   |
    a4(7) b4(15) c4(23)  e4(19) f4(11) g4(3)
      |     |  c3(22) d3(21) e3(20) |   |
      |   b2(14) --- d2(13) -- f2(12)   |
    a1(6) ---------- d1(5) ---------- g1(4)

The symmetry group is computed, not written down: every permutation of the points that maps edges
to edges and mills to mills.  For the three-ring boards these are 16: the square's 8, times
exchanging the inner and the outer ring.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache


@dataclass(frozen=True)
class Board:
    """A board graph.  ``rings`` lists the point names in bit order, grouped as they are written."""

    name: str
    rings: tuple[tuple[str, ...], ...]
    edges: tuple[tuple[int, int], ...]
    mills: tuple[tuple[int, ...], ...]

    @cached_property
    def points(self) -> tuple[str, ...]:
        return tuple(point for ring in self.rings for point in ring)

    @property
    def n_points(self) -> int:
        return len(self.points)

    @property
    def full_mask(self) -> int:
        return (1 << self.n_points) - 1

    @cached_property
    def index_of(self) -> dict[str, int]:
        """Bit number by point name."""
        return {name: i for i, name in enumerate(self.points)}

    @cached_property
    def neighbour_masks(self) -> tuple[int, ...]:
        """For each point, the mask of the points it shares an edge with."""
        masks = [0] * self.n_points
        for a, b in self.edges:
            masks[a] |= 1 << b
            masks[b] |= 1 << a
        return tuple(masks)

    @cached_property
    def mill_masks(self) -> tuple[int, ...]:
        return tuple(sum(1 << p for p in mill) for mill in self.mills)

    @cached_property
    def mills_through(self) -> tuple[tuple[int, ...], ...]:
        """For each point, the masks of the mills it belongs to."""
        return tuple(
            tuple(m for m in self.mill_masks if m >> p & 1) for p in range(self.n_points)
        )

    @cached_property
    def symmetries(self) -> tuple[tuple[int, ...], ...]:
        """All automorphisms as image tuples (point p goes to ``symmetry[p]``), the identity first."""
        return _automorphisms(self)

    @cached_property
    def inverse_of(self) -> tuple[int, ...]:
        """For each symmetry, the number of its inverse."""
        number = {s: i for i, s in enumerate(self.symmetries)}
        return tuple(
            number[tuple(sorted(range(len(s)), key=s.__getitem__))] for s in self.symmetries
        )

    def image(self, mask: int, symmetry: int) -> int:
        """The mask after applying a symmetry, by number."""
        images = self.symmetries[symmetry]
        return sum(1 << images[p] for p in range(self.n_points) if mask >> p & 1)

    def canonical(self, mask: int) -> tuple[int, int]:
        """Smallest image of a mask, and the number of the first symmetry that leads to it."""
        points = [p for p in range(self.n_points) if mask >> p & 1]
        return min(
            (sum(1 << s[p] for p in points), number) for number, s in enumerate(self.symmetries)
        )

    def mask_of(self, names) -> int:
        return sum(1 << self.index_of[name] for name in names)


def _automorphisms(board: Board) -> tuple[tuple[int, ...], ...]:
    n = board.n_points
    neighbours = board.neighbour_masks
    mills = {frozenset(m) for m in board.mills}
    # The profile of a point is kept by every symmetry and prunes nearly all of the search.
    profile = [(neighbours[p].bit_count(), len(board.mills_through[p])) for p in range(n)]
    found: list[tuple[int, ...]] = []

    def extend(images: list[int]) -> None:
        p = len(images)
        if p == n:
            if all(frozenset(images[q] for q in mill) in mills for mill in mills):
                found.append(tuple(images))
            return
        for image in range(n):
            if image in images or profile[image] != profile[p]:
                continue
            if all(
                (neighbours[p] >> q & 1) == (neighbours[image] >> images[q] & 1) for q in range(p)
            ):
                extend([*images, image])

    extend([])
    return tuple(sorted(found))


def _rings(*rings: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(ring.split()) for ring in rings)


def _make(name: str, rings, edges: list[str], mills: list[str]) -> Board:
    points = [point for ring in rings for point in ring]
    number = {point: i for i, point in enumerate(points)}
    pair = {tuple(sorted(number[p] for p in edge.split("-"))) for edge in edges}
    lines = {tuple(sorted(number[p] for p in mill.split("-"))) for mill in mills}
    return Board(name, rings, tuple(sorted(pair)), tuple(sorted(lines)))


def _ring_edges(ring) -> list[str]:
    return [f"{a}-{b}" for a, b in zip(ring, ring[1:] + ring[:1])]


def _ring_sides(ring) -> list[str]:
    closed = ring + ring[:1]
    return ["-".join(closed[i : i + 3]) for i in range(0, len(ring), 2)]


def _spokes(rings, places) -> list[str]:
    return ["-".join(ring[i] for ring in rings) for i in places]


def _nested(name: str, rings, *, diagonals: bool) -> Board:
    """Concentric squares joined at the middles of their sides, and at the corners if asked."""
    joined = range(8) if diagonals else range(1, 8, 2)
    spokes = _spokes(rings, joined)
    edges = [e for ring in rings for e in _ring_edges(ring)]
    edges += ["-".join(pair) for s in spokes for pair in zip(s.split("-"), s.split("-")[1:])]
    mills = [m for ring in rings for m in _ring_sides(ring)]
    if len(rings) == 3:  # with two rings a spoke has two points and is no row of three
        mills += spokes
    return _make(name, rings, edges, mills)


def _grid3() -> Board:
    rings = _rings("a3 b3 c3 c2 c1 b1 a1 a2", "b2")
    ring = rings[0]
    across = [f"{ring[i]}-b2-{ring[i + 4]}" for i in range(4)]
    edges = _ring_edges(ring) + [f"{p}-b2" for p in ring]
    return _make("grid3", rings, edges, _ring_sides(ring) + across)


@lru_cache(maxsize=None)
def boards() -> dict[str, Board]:
    """All boards by name."""
    three = _rings(
        "a7 d7 g7 g4 g1 d1 a1 a4", "b6 d6 f6 f4 f2 d2 b2 b4", "c5 d5 e5 e4 e3 d3 c3 c4"
    )
    two = _rings("a5 c5 e5 e3 e1 c1 a1 a3", "b4 c4 d4 d3 d2 c2 b2 b3")
    made = [
        _nested("ring3", three, diagonals=False),
        _nested("ring3-diagonal", three, diagonals=True),
        _nested("ring2", two, diagonals=False),
        _grid3(),
    ]
    return {board.name: board for board in made}
