import type { PDFPageProxy } from 'unpdf/pdfjs';

/** A glyph as the page draws it, in the coordinates of the page (y upwards). */
export interface Glyph {
  readonly text: string;
  readonly x: number;
  readonly y: number;
  /** Along the line, in the units of the page. */
  readonly width: number;
  /** Of the font, in the units of the page. */
  readonly size: number;
  /** Direction of the line in radians. */
  readonly angle: number;
  /** Whether an optional content group (a layer) that is off contains it. */
  readonly isHidden: boolean;
}

type Operators = Awaited<ReturnType<PDFPageProxy['getOperatorList']>>;
type OperatorCodes = Readonly<Record<string, number>>;
export interface Layers {
  isVisible(group: unknown): boolean;
}

/** Finds the glyphs of a page in the order in which the page draws them. @param codes  `OPS` of pdf.js. @param layers  decides which groups are shown. */
export function collectGlyphs(operators: Operators, codes: OperatorCodes, layers: Layers): Glyph[] {
  const names = new Map(Object.entries(codes).map(([name, code]) => [code, name]));
  const walk = new GlyphWalk(layers);
  operators.fnArray.forEach((code, place) => {
    walk.step(names.get(code) ?? '', operators.argsArray[place] ?? []);
  });
  return walk.glyphs;
}

/** Six numbers of an affine matrix, as PDF writes them. */
type Matrix = readonly [number, number, number, number, number, number];
const identity: Matrix = [1, 0, 0, 1, 0, 0];

/** What `q` keeps and `Q` brings back. */
interface State {
  readonly matrix: Matrix;
  readonly fontSize: number;
  readonly charSpacing: number;
  readonly wordSpacing: number;
  readonly scale: number;
  readonly leading: number;
  readonly rise: number;
}

class GlyphWalk {
  readonly glyphs: Glyph[] = [];
  readonly #layers: Layers;
  readonly #states: State[] = [];
  #state: State = { matrix: identity, fontSize: 0, charSpacing: 0, wordSpacing: 0, scale: 1, leading: 0, rise: 0 };
  #line: Matrix = identity;
  #text: Matrix = identity;
  /** One entry for each open marked content: whether it is a layer that is off. */
  readonly #sections: boolean[] = [];

  constructor(layers: Layers) {
    this.#layers = layers;
  }

  step(name: string, args: readonly unknown[]): void {
    switch (name) {
      case 'save':
        this.#states.push(this.#state);
        return;
      case 'restore':
      case 'paintFormXObjectEnd':
        this.#state = this.#states.pop() ?? this.#state;
        return;
      case 'paintFormXObjectBegin':
        this.#states.push(this.#state);
        if (args[0] !== null) this.#transform(numbers(args[0]));
        return;
      case 'transform':
        this.#transform(numbers(args));
        return;
      case 'beginText':
        this.#moveTo(identity);
        return;
      case 'setTextMatrix':
        // Some versions of pdf.js give the matrix as one argument.
        this.#moveTo(toMatrix(args.length === 1 ? numbers(args[0]) : numbers(args)));
        return;
      case 'moveText':
        this.#move(args);
        return;
      case 'setLeadingMoveText':
        this.#state = { ...this.#state, leading: -(numbers(args)[1] ?? 0) };
        this.#move(args);
        return;
      case 'nextLine':
        this.#move([0, -this.#state.leading]);
        return;
      case 'setFont':
        this.#state = { ...this.#state, fontSize: Number(args[1]) };
        return;
      case 'setCharSpacing':
        this.#state = { ...this.#state, charSpacing: Number(args[0]) };
        return;
      case 'setWordSpacing':
        this.#state = { ...this.#state, wordSpacing: Number(args[0]) };
        return;
      case 'setHScale':
        this.#state = { ...this.#state, scale: Number(args[0]) / 100 };
        return;
      case 'setLeading':
        this.#state = { ...this.#state, leading: Number(args[0]) };
        return;
      case 'setTextRise':
        this.#state = { ...this.#state, rise: Number(args[0]) };
        return;
      case 'beginMarkedContent':
        this.#sections.push(false);
        return;
      case 'beginMarkedContentProps':
        this.#sections.push(args[0] === 'OC' && !this.#layers.isVisible(args[1]));
        return;
      case 'endMarkedContent':
        this.#sections.pop();
        return;
      case 'showText':
        if (Array.isArray(args[0])) this.#show(args[0]);
        return;
    }
  }

  #transform(by: readonly number[]): void {
    this.#state = { ...this.#state, matrix: multiply(this.#state.matrix, toMatrix(by)) };
  }

  #moveTo(matrix: Matrix): void {
    this.#line = matrix;
    this.#text = matrix;
  }

  #move(args: readonly unknown[]): void {
    const [x = 0, y = 0] = numbers(args);
    this.#moveTo(multiply(this.#line, [1, 0, 0, 1, x, y]));
  }

  /** @param pieces  glyphs, and numbers that move the next one back by thousandths of the font's size. */
  #show(pieces: readonly unknown[]): void {
    const { fontSize, charSpacing, wordSpacing, scale, rise } = this.#state;
    const isHidden = this.#sections.includes(true);
    for (const piece of pieces) {
      if (typeof piece === 'number') {
        this.#advance((-piece / 1_000) * fontSize * scale);
        continue;
      }
      if (!isFontGlyph(piece)) continue;
      const [a, b, , , x, y] = multiply(this.#state.matrix, multiply(this.#text, [1, 0, 0, 1, 0, rise]));
      const stretch = Math.hypot(a, b);
      const width = (piece.width / 1_000) * fontSize * scale;
      this.glyphs.push({
        text: piece.unicode,
        ...{ x, y, isHidden },
        width: Math.abs(width) * stretch,
        size: Math.abs(fontSize) * stretch,
        angle: Math.atan2(b, a),
      });
      this.#advance(width + (charSpacing + (piece.isSpace ? wordSpacing : 0)) * scale);
    }
  }

  #advance(by: number): void {
    this.#text = multiply(this.#text, [1, 0, 0, 1, by, 0]);
  }
}

interface FontGlyph {
  readonly unicode: string;
  /** Thousandths of the font's size. */
  readonly width: number;
  readonly isSpace: boolean;
}

function isFontGlyph(piece: unknown): piece is FontGlyph {
  return typeof piece === 'object' && piece !== null && 'unicode' in piece && typeof piece.unicode === 'string';
}

function numbers(values: unknown): number[] {
  return Array.from(values as ArrayLike<unknown>, Number);
}

function toMatrix([a = 1, b = 0, c = 0, d = 1, e = 0, f = 0]: readonly number[]): Matrix {
  return [a, b, c, d, e, f];
}

/** The matrix that applies `inner` first. */
function multiply(outer: Matrix, inner: Matrix): Matrix {
  return [
    outer[0] * inner[0] + outer[2] * inner[1],
    outer[1] * inner[0] + outer[3] * inner[1],
    outer[0] * inner[2] + outer[2] * inner[3],
    outer[1] * inner[2] + outer[3] * inner[3],
    outer[0] * inner[4] + outer[2] * inner[5] + outer[4],
    outer[1] * inner[4] + outer[3] * inner[5] + outer[5],
  ];
}
