"""Names beside points."""

from collections.abc import Mapping

from matplotlib.axes import Axes
from matplotlib.text import Annotation
from matplotlib.transforms import Bbox

from tomlab.reporting import plotting

_SIDES = [(5, 3, "left", "bottom"), (-5, 3, "right", "bottom"), (6, 0, "left", "center")]
_SIDES += [(-6, 0, "right", "center"), (5, -3, "left", "top"), (-5, -3, "right", "top")]
_SIDES += [(0, 6, "center", "bottom"), (0, -6, "center", "top")]


def name_points(axes: Axes, points: Mapping[str, tuple[float, float]]) -> None:
    """Write beside each point, (x, y), its name, on the first side that has room for it.

    Called last, as the room is that of the figure as it is then laid out.
    """
    axes.figure.draw_without_rendering()
    centres = axes.transData.transform(list(points.values()))
    taken = [
        Bbox.from_extents(x - plotting.DOT, y - plotting.DOT, x + plotting.DOT, y + plotting.DOT)
        for x, y in centres
    ]
    for name, point in points.items():
        texts = [_name_at(axes, name, point, *side) for side in _SIDES]
        boxes = [text.get_window_extent() for text in texts]
        free = [k for k, box in enumerate(boxes) if _has_room(axes, box, taken)]
        kept = free[0] if free else 0
        taken.append(boxes[kept])
        for text in texts[:kept] + texts[kept + 1 :]:
            text.remove()


def _name_at(
    axes: Axes, name: str, point: tuple[float, float], right: float, up: float, ha: str, va: str
) -> Annotation:
    where = {"xytext": (right, up), "textcoords": "offset points", "ha": ha, "va": va}
    text = axes.annotate(name, point, **where, fontsize=6, color=plotting.INK, gid="name")
    text.set_in_layout(False)
    return text


def _has_room(axes: Axes, box: Bbox, taken: list[Bbox]) -> bool:
    inside = axes.bbox.x0 <= box.x0 and box.x1 <= axes.bbox.x1 + 4
    inside &= axes.bbox.y0 <= box.y0 and box.y1 <= axes.bbox.y1
    return inside and not any(box.overlaps(other) for other in taken)
