"""Bar charts as SVG, with nothing but text: readable on light and dark pages."""

import math
from html import escape

WIDTH, LABELS, FIGURES, ROW, TOP, BOTTOM = 800, 290, 110, 26, 44, 30
STYLE = """
  text { font: 13px system-ui, sans-serif; fill: #24292f }
  .title { font-weight: 600 }
  .faint { fill: #656d76; font-size: 11px }
  .grid { stroke: #d0d7de; stroke-width: 1 }
  .other { fill: #8c959f }
  .open { fill: #bf8700 }
  .ours { fill: #1f883d }
  .tail { stroke: #24292f; stroke-width: 1.5 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 }
    .faint { fill: #9198a1 }
    .grid { stroke: #3d444d }
    .tail { stroke: #e6edf3 }
  }
"""


class Scale:
    """Where a value lies: by its logarithm from the power of ten below all, or from nought."""

    def __init__(self, values, logarithmic):
        self.logarithmic = logarithmic
        if logarithmic:
            self.low = math.floor(math.log10(min(values)))
            self.high = max(math.ceil(math.log10(max(values))), self.low + 1)
        else:
            step = 10 ** math.floor(math.log10(max(values)))
            self.low, self.high = 0, math.ceil(max(values) / step) * step

    def x(self, value):
        place = math.log10(value) if self.logarithmic else value
        share = (place - self.low) / (self.high - self.low)
        return LABELS + max(share, 0) * (WIDTH - LABELS - FIGURES)

    def marks(self):
        if self.logarithmic:
            return [10.0 ** power for power in range(self.low, self.high + 1)]
        return [self.high * part / 4 for part in range(5)]


def bars(title, unit, rows, logarithmic):
    """A chart of rows {label, value, style[, tail]}; a tail is a second, larger figure."""
    scale = Scale([value for row in rows for value in (row["value"], row.get("tail"))
                   if value], logarithmic)
    height = TOP + ROW * len(rows) + BOTTOM
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
           f'viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(title)}">',
           f"<style>{STYLE}</style>",
           f'<text class="title" x="8" y="20">{escape(title)}</text>']
    for mark in scale.marks():
        x = scale.x(mark)
        out.append(f'<line class="grid" x1="{x:.1f}" y1="{TOP - 8}" x2="{x:.1f}" '
                   f'y2="{height - BOTTOM + 4}"/>')
        out.append(f'<text class="faint" x="{x:.1f}" y="{height - BOTTOM + 18}" '
                   f'text-anchor="middle">{mark:,g}</text>')
    out.append(f'<text class="faint" x="{WIDTH - 8}" y="{height - BOTTOM + 18}" '
               f'text-anchor="end">{escape(unit)}</text>')
    for number, row in enumerate(rows):
        top = TOP + ROW * number
        start, end = LABELS, scale.x(row["value"])
        out.append(f'<text x="{LABELS - 10}" y="{top + 13}" text-anchor="end">'
                   f'{escape(row["label"])}</text>')
        out.append(f'<rect class="{row["style"]}" x="{start}" y="{top + 1}" '
                   f'width="{max(end - start, 1):.1f}" height="16" rx="2"/>')
        right = end
        if row.get("tail"):
            right = scale.x(row["tail"])
            out.append(f'<path class="tail" fill="none" d="M{end:.1f} {top + 9}H{right:.1f}'
                       f'M{right:.1f} {top + 5}v8"/>')
        out.append(f'<text class="faint" x="{right + 6:.1f}" y="{top + 13}">'
                   f'{escape(row["figure"])}</text>')
    out.append("</svg>\n")
    return "\n".join(out)
