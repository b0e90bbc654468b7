/** Tests one character (a whole code point). */
export type Atom = (character: string) => boolean;

export type Node =
  | { readonly kind: 'atom'; readonly atom: Atom }
  | { readonly kind: 'start' | 'end' }
  | { readonly kind: 'sequence' | 'choice'; readonly nodes: readonly Node[] }
  | { readonly kind: 'repeat'; readonly node: Node; readonly min: number; readonly max: number };

/** A pattern that is not one, or that could take more than linear time. The message ends a sentence: "the pattern …". */
export class PatternError extends Error {
  override readonly name = 'PatternError';
}

const lengthMax = 500;
const repeatMax = 200;
const nestingMax = 30;

/** @throws PatternError */
export function parsePattern(source: string): Node {
  if (source.length > lengthMax) throw new PatternError(`has more than ${lengthMax} characters`);
  return new Parser(source).whole();
}

class Parser {
  private readonly source: string;
  private place = 0;
  private depth = 0;

  constructor(source: string) {
    this.source = source;
  }

  whole(): Node {
    const node = this.choice();
    if (this.place < this.source.length) throw new PatternError('has a ")" too many');
    return node;
  }

  private choice(): Node {
    this.depth += 1;
    if (this.depth > nestingMax) throw new PatternError(`is nested deeper than ${nestingMax}`);
    const nodes = [this.sequence()];
    while (this.take('|')) nodes.push(this.sequence());
    this.depth -= 1;
    return nodes.length === 1 && nodes[0] !== undefined ? nodes[0] : { kind: 'choice', nodes };
  }

  private sequence(): Node {
    const nodes: Node[] = [];
    while (this.place < this.source.length && !/[|)]/.test(this.source[this.place] ?? '')) nodes.push(this.repeated());
    return { kind: 'sequence', nodes };
  }

  private repeated(): Node {
    const node = this.single();
    const given = /^(?:[*+?]|\{(\d{1,4})(,(\d{1,4})?)?\})/.exec(this.source.slice(this.place));
    if (given === null) return node;
    this.place += given[0].length;
    // Greedy or lazy: the same texts match.
    this.take('?');
    const [text, least, comma, most] = given;
    const min = text === '+' ? 1 : Number(least ?? 0);
    const max = bound(text, comma, least, most);
    if (max < min || min > repeatMax || (max !== Number.POSITIVE_INFINITY && max > repeatMax)) {
      throw new PatternError(`repeats something more than ${repeatMax} times`);
    }
    return { kind: 'repeat', node, min, max };
  }

  private single(): Node {
    if (this.take('^')) return { kind: 'start' };
    if (this.take('$')) return { kind: 'end' };
    if (this.take('(')) return this.group();
    const rest = this.source.slice(this.place);
    const piece =
      /^(?:\[(?:\\[\s\S]|[^\]\\])*\]|\\(?:[pP]\{[\w=]{1,60}\}|u\{[0-9a-fA-F]{1,6}\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[\s\S])|[^*+?{}\][\\()|])/u.exec(
        rest,
      )?.[0];
    if (piece === undefined) throw new PatternError(`cannot be read at character ${this.place + 1}`);
    if (/^\\[1-9kbBc]/.test(piece)) throw new PatternError(`uses ${piece}, which is not supported`);
    this.place += piece.length;
    return { kind: 'atom', atom: atomOf(piece) };
  }

  private group(): Node {
    const head = /^\?(?::|<[A-Za-z_$][\w$]*>)/.exec(this.source.slice(this.place))?.[0];
    if (head !== undefined) this.place += head.length;
    else if (this.source[this.place] === '?') throw new PatternError('looks around, which is not supported');
    const node = this.choice();
    if (!this.take(')')) throw new PatternError('has a "(" too many');
    return node;
  }

  private take(character: string): boolean {
    if (this.source[this.place] !== character) return false;
    this.place += 1;
    return true;
  }
}

function bound(text: string, comma: string | undefined, least: string | undefined, most: string | undefined): number {
  if (text === '?') return 1;
  if (text === '*' || text === '+') return Number.POSITIVE_INFINITY;
  if (comma === undefined) return Number(least);
  return most === undefined ? Number.POSITIVE_INFINITY : Number(most);
}

/** One character at a time cannot go back: the engine of the language may judge it. What it says of ASCII is remembered. */
function atomOf(piece: string): Atom {
  const test = compiled(piece);
  const known = new Int8Array(128).fill(-1);
  return (character) => {
    const code = character.charCodeAt(0);
    if (code >= 128) return test.test(character);
    if (known[code] === -1) known[code] = test.test(character) ? 1 : 0;
    return known[code] === 1;
  };
}

function compiled(piece: string): RegExp {
  for (const flags of ['u', '']) {
    try {
      return new RegExp(`^(?:${piece})$`, flags);
    } catch {
      // Some escapes are good in the older syntax only.
    }
  }
  throw new PatternError('is not a regular expression');
}
