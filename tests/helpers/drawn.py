"""What a drawn figure shows, read back from it."""


def artists(axes, gid):
    """The artists of one series."""
    return [each for each in axes.get_children() if each.get_gid() == gid]


def rows(figure):
    """(label, y) of each row of the first panel; a label may stand in the paper's block and ours."""
    axis = figure.axes[0].yaxis
    ticks = zip(axis.get_majorticklocs(), axis.get_ticklabels(), strict=True)
    return [(label.get_text(), y) for y, label in ticks]


def dots(axes, gid):
    """(x, y) of each dot of a series, those of too few groups, which are grey, last."""
    lines = artists(axes, gid)
    assert lines
    return [(round(float(x), 4), round(float(y), 2)) for one in lines for x, y in one.get_xydata()]


def colours(axes, gid):
    """The colour of each dot of a series, in the order of `dots`."""
    return [line.get_markeredgecolor() for line in artists(axes, gid) for _ in line.get_xydata()]


def by_row(axes, gid):
    """x of each dot of a series by the y of its row, for series that have a dot a row."""
    return {round(y): x for x, y in dots(axes, gid)}


def counts(axes):
    """What stands right of a panel, n and groups, by its height."""
    return {round(float(text.xy[1]), 2): text.get_text() for text in artists(axes, "n")}


def said(axes):
    """What else a panel says."""
    return [text.get_text() for text in axes.texts if text.get_gid() != "n"]


def legend(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


def widths(axes):
    """The widths of the bars of each series, by its label."""
    return {bars.get_label(): [bar.get_width() for bar in bars] for bars in axes.containers}


def told(drawn):
    """A figure, and its caption with its notes."""
    figure, caption, *more = drawn
    return figure, " ".join([caption, *(more[0] if more else ())])
