"""Charts as PNG or SVG files, in plain Python: import plot; plot.line([1, 4, 9]); plot.title('Squares'); plot.save('squares.png')

line(x, y=None, label=None), scatter(x, y, label=None), bar(labels, values, label=None), hist(values, bins=10), pie(labels, values),
title(text), xlabel(text), ylabel(text), clear(), save(path, width=800, height=500)
"""
import math
import struct
import zlib

colors = [(31, 119, 180), (255, 127, 14), (44, 160, 44), (214, 39, 40), (148, 103, 189), (140, 86, 75), (227, 119, 194), (127, 127, 127)]
black, grey, white = (0, 0, 0), (221, 221, 221), (255, 255, 255)
# Five columns of seven points for each character from space to ~.
_glyphs = (
    '0000000000 00005f0000 0007000700 147f147f14 242a7f2a12 2313086462 3649562050 0008070300 001c224100 0041221c00 2a1c7f1c2a '
    '08083e0808 0080703000 0808080808 0000606000 2010080402 3e5149453e 00427f4000 7249494946 2141494d33 1814127f10 2745454539 '
    '3c4a494931 4121110907 3649494936 464949291e 0000140000 0040340000 0008142241 1414141414 0041221408 0201590906 3e415d594e '
    '7c1211127c 7f49494936 3e41414122 7f4141413e 7f49494941 7f09090901 3e41415173 7f0808087f 00417f4100 2040413f01 7f08142241 '
    '7f40404040 7f021c027f 7f0408107f 3e4141413e 7f09090906 3e4151215e 7f09192946 2649494932 03017f0103 3f4040403f 1f2040201f '
    '3f4038403f 6314081463 0304780403 6159494d43 007f414141 0204081020 004141417f 0402010204 4040404040 0003070800 2054547840 '
    '7f28444438 3844444428 384444287f 3854545418 00087e0902 18a4a49c78 7f08040478 00447d4000 2040403d00 7f10284400 00417f4000 '
    '7c04780478 7c08040478 3844444438 fc18242418 18242418fc 7c08040408 4854545424 04043f4424 3c4040207c 1c2040201c 3c4030403c '
    '4428102844 4c9090907c 4464544c44 0008364100 0000770000 0041360800 0201020402'
).split()
font = [bytes.fromhex(each) for each in _glyphs]


class _Png:
    def __init__(self, width, height):
        self.width, self.height = width, height
        self.rows = [bytearray(bytes(white) * width) for _ in range(height)]

    def rect(self, x, y, width, height, color):
        left, right = max(0, math.floor(x + 0.5)), min(self.width, math.floor(x + width + 0.5))
        if right <= left:
            return
        for row in range(max(0, math.floor(y + 0.5)), min(self.height, math.floor(y + height + 0.5))):
            self.rows[row][left * 3:right * 3] = bytes(color) * (right - left)

    def line(self, x1, y1, x2, y2, color, thick=1):
        steps = max(1, round(max(abs(x2 - x1), abs(y2 - y1))))
        for step in range(steps + 1):
            x, y = x1 + (x2 - x1) * step / steps, y1 + (y2 - y1) * step / steps
            self.rect(x - thick / 2, y - thick / 2, thick, thick, color)

    def dot(self, x, y, radius, color):
        for dy in range(-radius, radius + 1):
            half = math.sqrt(radius * radius - dy * dy)
            self.rect(x - half, y + dy, 2 * half + 1, 1, color)

    def wedge(self, x, y, radius, start, end, color):
        for dy in range(-radius, radius + 1):
            for dx in range(-radius, radius + 1):
                if dx * dx + dy * dy <= radius * radius and start <= (math.atan2(dx, -dy) % math.tau) / math.tau < end:
                    self.rect(x + dx, y + dy, 1, 1, color)

    def text(self, x, y, text, anchor='start', scale=2, is_vertical=False):
        text = ''.join(each if ' ' <= each <= '~' else '?' for each in str(text))
        length = len(text) * 6 * scale
        shift = {'start': 0, 'middle': -length / 2, 'end': -length}[anchor]
        for place, letter in enumerate(text):
            for column, bits in enumerate(font[ord(letter) - 32]):
                for row in range(8):
                    if bits >> row & 1:
                        along, across = shift + (place * 6 + column) * scale, (row - 7) * scale
                        at = (x + across, y - along - scale) if is_vertical else (x + along, y + across)
                        self.rect(at[0], at[1], scale, scale, black)

    def data(self):
        def chunk(kind, data):
            return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))

        head = struct.pack('>IIBBBBB', self.width, self.height, 8, 2, 0, 0, 0)
        pixels = zlib.compress(b''.join(b'\0' + row for row in self.rows))
        return b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', head) + chunk(b'IDAT', pixels) + chunk(b'IEND', b'')


class _Svg:
    def __init__(self, width, height):
        self.width, self.height = width, height
        self.parts = []

    def rect(self, x, y, width, height, color):
        self.parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="rgb{color}"/>')

    def line(self, x1, y1, x2, y2, color, thick=1):
        ends = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
        self.parts.append(f'<line {ends} stroke="rgb{color}" stroke-width="{thick}"/>')

    def dot(self, x, y, radius, color):
        self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="rgb{color}"/>')

    def wedge(self, x, y, radius, start, end, color):
        if end - start >= 1:
            self.dot(x, y, radius, color)
            return
        (x1, y1), (x2, y2) = ((x + radius * math.sin(a * math.tau), y - radius * math.cos(a * math.tau)) for a in (start, end))
        is_large = int(end - start > 0.5)
        path = f'M{x:.1f} {y:.1f}L{x1:.1f} {y1:.1f}A{radius} {radius} 0 {is_large} 1 {x2:.1f} {y2:.1f}Z'
        self.parts.append(f'<path d="{path}" fill="rgb{color}"/>')

    def text(self, x, y, text, anchor='start', scale=2, is_vertical=False):
        plain = str(text).replace('&', '&amp;').replace('<', '&lt;').replace('>', '&gt;')
        turned = f' transform="rotate(-90 {x:.1f} {y:.1f})"' if is_vertical else ''
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{scale * 7}"{turned}>{plain}</text>')

    def data(self):
        size = f'width="{self.width}" height="{self.height}" viewBox="0 0 {self.width} {self.height}"'
        head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif"><rect width="100%" height="100%" fill="white"/>'
        return (head + ''.join(self.parts) + '</svg>').encode()


_chart = {}


def clear():
    """Forgets everything drawn."""
    _chart.clear()
    _chart.update(lines=[], dots=[], bars=[], labels=None, pie=None, title='', xlabel='', ylabel='')


clear()


def _numbers(values):
    return [float(value) for value in values]


def line(x, y=None, label=None):
    """A line through points; with one list only, x counts from 0."""
    ys = _numbers(x if y is None else y)
    xs = list(range(len(ys))) if y is None else _numbers(x)
    _same(xs, ys)
    _chart['lines'].append((xs, ys, label))


def scatter(x, y, label=None):
    xs, ys = _numbers(x), _numbers(y)
    _same(xs, ys)
    _chart['dots'].append((xs, ys, label))


def bar(labels, values, label=None):
    """Bars; called again with the same labels, the groups stand beside each other."""
    labels, values = [str(each) for each in labels], _numbers(values)
    _same(labels, values)
    if _chart['labels'] is not None and _chart['labels'] != labels:
        raise ValueError('every bar() of one chart needs the same labels')
    _chart['labels'] = labels
    _chart['bars'].append((values, label))


def hist(values, bins=10, label=None):
    values = _numbers(values)
    low, high = min(values), max(values)
    width = (high - low) / bins or 1
    counts = [0] * bins
    for value in values:
        counts[min(bins - 1, int((value - low) / width))] += 1
    bar([_short(low + width * place) for place in range(bins)], counts, label)


def pie(labels, values):
    labels, values = [str(each) for each in labels], _numbers(values)
    _same(labels, values)
    if sum(values) <= 0 or min(values) < 0:
        raise ValueError('pie() needs values of at least 0 with a sum above 0')
    _chart['pie'] = (labels, values)


def title(text):
    _chart['title'] = str(text)


def xlabel(text):
    _chart['xlabel'] = str(text)


def ylabel(text):
    _chart['ylabel'] = str(text)


def save(path, width=800, height=500):
    """Writes the chart to a .png or .svg file and begins a new one."""
    name = str(path)
    if not name.lower().endswith(('.png', '.svg')):
        raise ValueError('save() writes .png and .svg files')
    width, height = int(width), int(height)
    if not (200 <= width <= 2000 and 150 <= height <= 2000):
        raise ValueError('width must be 200 to 2000 and height 150 to 2000')
    page = _Svg(width, height) if name.lower().endswith('.svg') else _Png(width, height)
    page.text(width / 2, 30, _chart['title'], 'middle', 3)
    if _chart['pie'] is not None:
        _draw_pie(page)
    else:
        _draw_axes(page)
    with open(path, 'wb') as file:
        file.write(page.data())
    clear()


savefig = save


def _same(one, other):
    if len(one) != len(other):
        raise ValueError(f'two lists of one length are needed: there are {len(one)} and {len(other)} values')


def _short(value):
    return f'{value:.6g}'


def _ticks(low, high, count=6):
    raw = (high - low) / count
    power = 10 ** math.floor(math.log10(raw))
    step = next(power * each for each in (1, 2, 2.5, 5, 10) if power * each >= raw)
    first = math.ceil(low / step - 1e-9)
    return [place * step for place in range(first, math.floor(high / step + 1e-9) + 1)]


def _range(values):
    values = [value for value in values if math.isfinite(value)]
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    return (low - 0.5, high + 0.5) if low == high else (low, high)


def _draw_axes(page):
    points = _chart['lines'] + _chart['dots']
    bars, labels = _chart['bars'], _chart['labels']
    ys = [value for _, values, _ in points for value in values] + [value for values, _ in bars for value in values]
    if not ys:
        raise ValueError('there is nothing to draw')
    low, high = _range([*ys, 0.0] if bars else ys)
    left, top, right, bottom = 90, 50, page.width - 20, page.height - 60
    x_low, x_high = (-0.5, len(labels) - 0.5) if bars else _range([value for values, _, _ in points for value in values])
    at_x = lambda x: left + (x - x_low) / (x_high - x_low) * (right - left)
    at_y = lambda y: bottom - (y - low) / (high - low) * (bottom - top)
    for tick in _ticks(low, high):
        page.line(left, at_y(tick), right, at_y(tick), grey)
        page.text(left - 8, at_y(tick) + 6, _short(tick), 'end')
    if bars:
        each = max(1, math.ceil(len(labels) * 12 * max(len(label[:14]) for label in labels) / (right - left)))
        for place in range(0, len(labels), each):
            page.text(at_x(place), bottom + 20, labels[place][:14], 'middle')
    else:
        for tick in _ticks(x_low, x_high):
            page.line(at_x(tick), top, at_x(tick), bottom, grey)
            page.text(at_x(tick), bottom + 20, _short(tick), 'middle')
    names, count = [], 0
    for values, label in bars:
        color = colors[count % len(colors)]
        count += 1
        names.append((label, color))
        width = 0.8 / len(bars)
        for place, value in enumerate(values):
            begin = place - 0.4 + (count - 1) * width
            high_y, low_y = at_y(max(value, 0)), at_y(min(value, 0))
            page.rect(at_x(begin), high_y, at_x(begin + width * 0.95) - at_x(begin), low_y - high_y, color)
    for kind, (xs, ys, label) in [('line', each) for each in _chart['lines']] + [('dots', each) for each in _chart['dots']]:
        color = colors[count % len(colors)]
        count += 1
        names.append((label, color))
        places = [(at_x(x), at_y(y)) if math.isfinite(x) and math.isfinite(y) else None for x, y in zip(xs, ys)]
        for one, other in zip(places, places[1:]) if kind == 'line' else ():
            if one is not None and other is not None:
                page.line(*one, *other, color, 2)
        for one in places if kind == 'dots' or len(places) == 1 else ():
            if one is not None:
                page.dot(*one, 3, color)
    page.line(left, bottom, right, bottom, black)
    page.line(left, top, left, bottom, black)
    page.text((left + right) / 2, page.height - 14, _chart['xlabel'], 'middle')
    page.text(22, (top + bottom) / 2, _chart['ylabel'], 'middle', is_vertical=True)
    _legend(page, [(name, color) for name, color in names if name is not None], left + 14, top + 16)


def _draw_pie(page):
    labels, values = _chart['pie']
    whole, start = sum(values), 0.0
    radius = int(min(page.width / 2, page.height - 80) / 2)
    names = []
    for place, (label, value) in enumerate(zip(labels, values)):
        end = 1.0 if place == len(values) - 1 else start + value / whole
        color = colors[place % len(colors)]
        page.wedge(radius + 30, 55 + radius, radius, start, end, color)
        names.append((f'{label} {value / whole:.1%}', color))
        start = end
    _legend(page, names, 2 * radius + 60, 70)


def _legend(page, names, x, y):
    for place, (name, color) in enumerate(names):
        page.rect(x, y + place * 22 - 11, 12, 12, color)
        page.text(x + 20, y + place * 22, str(name)[:40])
