/** A part of a regular expression, with a text that it matches. */
export interface Part {
  /** The parts that follow each other, for each alternative; empty for a single character. */
  readonly alternatives: readonly (readonly Part[])[];
  /** One pass of the part, without its quantifier. */
  readonly text: string;
  /** The least number of passes. */
  readonly min: number;
  readonly max: number;
}

/** Reads a regular expression far enough to write texts that it almost matches. */
export function partsOf(source: string, flags: string): readonly (readonly Part[])[] {
  return new Reader(source, flags).alternatives();
}

export function textOf(parts: readonly Part[]): string {
  return parts.map(({ text, min }) => text.repeat(Math.min(min, 70))).join('');
}

const candidates = [
  ...Array.from('a0 -_.\n"\'<>/:@=,;#[](){}|*`~^$&%+?!\\Aéz1\t。'),
  ...Array.from({ length: 0x250 }, (_, code) => String.fromCharCode(code)),
  ...['一', 'ア', 'あ', '가', '\u2028', '\u3002', '“', '”', '’', '…', '•', '？', '！', '」', '）', '😀', '\ufeff', '\u200b', '️'],
];
const never: Part = { alternatives: [], text: '', min: 0, max: 0 };

class Reader {
  readonly #source: string;
  readonly #flags: string;
  #at = 0;

  constructor(source: string, flags: string) {
    this.#source = source;
    this.#flags = flags.replace(/[gy]/g, '');
  }

  alternatives(): readonly (readonly Part[])[] {
    const all: Part[][] = [[]];
    while (this.#at < this.#source.length && this.#source[this.#at] !== ')') {
      if (this.#source[this.#at] === '|') {
        this.#at += 1;
        all.push([]);
      } else all.at(-1)?.push(this.#quantified(this.#atom()));
    }
    return all;
  }

  #atom(): Part {
    const rest = this.#source.slice(this.#at);
    const opening = /^\((?:\?(?:[=!:]|<[=!]|<[^>]*>|[a-z-]*:))?/.exec(rest)?.[0];
    if (opening !== undefined) {
      this.#at += opening.length;
      const alternatives = this.alternatives();
      this.#at += 1;
      // A negative assertion matches what its content does not.
      const text = /!$/.test(opening) || opening === '(?=' || opening === '(?<=' ? '' : textOf(alternatives[0] ?? []);
      return { alternatives, text, min: 1, max: 1 };
    }
    const token =
      /^(?:\[(?:\\[\s\S]|[^\]\\])*\]|\\(?:[pP]\{[^}]*\}|u\{[^}]*\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|c[A-Za-z]|k<[^>]*>|[\s\S])|[\s\S])/.exec(
        rest,
      );
    const [found = ''] = token ?? [];
    this.#at += found.length;
    if (/^(?:\^|\$|\\[bB]|\\[1-9]|\\k<.*)$/.test(found)) return { ...never, min: 1, max: 1 };
    return { alternatives: [], text: this.#characterOf(found), min: 1, max: 1 };
  }

  #quantified(part: Part): Part {
    const found = /^(?:[*+?]|\{(\d+)(,?)(\d*)\})\??/.exec(this.#source.slice(this.#at));
    if (found === null) return part;
    this.#at += found[0].length;
    const [quantifier = '', least = '0', comma = '', most = ''] = found;
    if (quantifier.startsWith('*')) return { ...part, min: 0, max: Number.POSITIVE_INFINITY };
    if (quantifier.startsWith('+')) return { ...part, max: Number.POSITIVE_INFINITY };
    if (quantifier.startsWith('?')) return { ...part, min: 0 };
    const min = Number(least);
    return { ...part, min, max: comma === '' ? min : most === '' ? Number.POSITIVE_INFINITY : Number(most) };
  }

  #characterOf(token: string): string {
    const pattern = new RegExp(`^(?:${token})$`, this.#flags);
    return candidates.find((character) => pattern.test(character)) ?? '';
  }
}
