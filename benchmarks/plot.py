"""A plot of time against positions, so that the growth of cost can be seen: on both logarithmic axes it must be a
straight line of slope one.  Needs matplotlib, the extra ``plots`` of pyproject.toml."""

import math
from pathlib import Path

from .results import latest

STAGES = {"scan": "o", "propagate": "s", "pass": "D"}


def series(records: list[dict]) -> dict[tuple[str, int], list[tuple[str, int, float]]]:
    """For each stage and number of workers the cases, their positions and quickest seconds, by positions."""
    found: dict = {}
    for (benchmark, case, workers), record in latest(records).items():
        if benchmark in STAGES and record["amounts"].get("positions"):
            point = (case, record["amounts"]["positions"], min(record["seconds"]))
            found.setdefault((benchmark, workers), []).append(point)
    return {key: sorted(points, key=lambda p: p[1]) for key, points in found.items()}


def slope(points: list[tuple[str, int, float]]) -> float | None:
    """Exponent of growth: least squares of log seconds on log positions.  None for fewer than two sizes."""
    xs, ys = ([math.log(p[i]) for p in points] for i in (1, 2))
    if len(set(xs)) < 2:
        return None
    mean_x, mean_y = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys)) / sum((x - mean_x) ** 2 for x in xs)


def draw(records: list[dict], path: Path) -> list[str]:
    """Draws all stages of a result; returns a line for each with its exponent.  `ValueError` where there is none."""
    found = series(records)
    if not found:
        raise ValueError("the results hold no pass over a pair")
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(9, 6), layout="constrained")
    lines = []
    for number, ((stage, workers), points) in enumerate(sorted(found.items())):
        exponent = slope(points)
        growth = "" if exponent is None else f", grows as positions^{exponent:.2f}"
        label = f"{stage}, {workers} worker{'s' * (workers > 1)}{growth}"
        positions, seconds = [p[1] for p in points], [p[2] for p in points]
        axes.plot(positions, seconds, STAGES[stage] + "-", label=label, color=f"C{number}", markersize=4, linewidth=1)
        lines.append(label)
    lowest: dict = {}
    for case, positions, seconds in (point for points in found.values() for point in points):
        lowest[case] = positions, min(seconds, lowest.get(case, (0, seconds))[1])
    for case, place in lowest.items():
        style = {"textcoords": "offset points", "xytext": (0, -12), "fontsize": 7, "ha": "center"}
        axes.annotate(case.split()[-1], place, **style)
    ends = [min(p for p, _ in lowest.values()), max(p for p, _ in lowest.values())]
    longest = max(found.values(), key=len)[-1]
    axes.plot(ends, [longest[2] / longest[1] * x for x in ends], "k:", linewidth=1, label="proportional to positions")
    axes.set(xscale="log", yscale="log", xlabel="canonical positions of a pair", ylabel="seconds")
    axes.grid(True, which="both", alpha=0.25)
    axes.legend(fontsize=8)
    figure.savefig(path, dpi=150)
    pyplot.close(figure)
    return lines
