import { type AST, RegExpParser, RegExpSyntaxError } from '@eslint-community/regexpp';

/** The steps by which a text is read for a pattern. It finds at least what the pattern finds. */
export interface PatternProgram {
  readonly start: number;
  readonly instructions: readonly PatternInstruction[];
}

export interface PatternInstruction {
  /** Where it goes on, by their places in the program. */
  readonly next: readonly number[];
  /** Takes a character of the text; undefined: it takes none. What depends on the place in the text, such as `^`, is as if it held anywhere. */
  readonly matches: ((codePoint: number) => boolean) | undefined;
  /** The text up to here matches. */
  readonly isEnd: boolean;
}

const instructionsMax = 20_000;

/**
 * The program of a regular expression of ECMAScript, as Thompson builds it.
 *
 * @param isUnicode  whether it is read with the flag `u`.
 * @returns undefined for what has none: look-around, references back, halves of characters, very many
 * repetitions, and what the parser does not know yet.
 */
export function programOf(source: string, isUnicode: boolean): PatternProgram | undefined {
  // Without the flag such a character is two halves, and a text is read character by character.
  if (!isUnicode && /[\ud800-\udfff]|\\u[dD][89a-fA-F]/.test(source)) return undefined;
  const builder = new ProgramBuilder(isUnicode ? 'u' : '');
  try {
    const pattern = new RegExpParser().parsePattern(source, 0, source.length, { unicode: isUnicode });
    const start = builder.oneOf(pattern.alternatives, builder.add({ next: [], matches: undefined, isEnd: true }));
    return { start, instructions: builder.instructions };
  } catch (error) {
    if (error instanceof NoProgramError || error instanceof RegExpSyntaxError) return undefined;
    throw error;
  }
}

class NoProgramError extends Error {}

/** Builds from the end: each part is told where the text goes on behind it, and tells where it begins. */
class ProgramBuilder {
  readonly instructions: PatternInstruction[] = [];
  /** Those of the pattern, and of the group that is being built. */
  #flags: string;

  constructor(flags: string) {
    this.#flags = flags;
  }

  add(instruction: PatternInstruction): number {
    if (this.instructions.length >= instructionsMax) throw new NoProgramError();
    return this.instructions.push(instruction) - 1;
  }

  oneOf(alternatives: readonly AST.Alternative[], after: number): number {
    const starts = alternatives.map(({ elements }) =>
      elements.reduceRight((next: number, element) => this.#element(element, next), after),
    );
    return starts.length === 1 ? (starts[0] ?? after) : this.#fork(starts);
  }

  #element(element: AST.Element, after: number): number {
    switch (element.type) {
      case 'Character':
        if (this.#flags.includes('i')) return this.#set(element.raw, after);
        return this.add({ next: [after], matches: (codePoint) => codePoint === element.value, isEnd: false });
      case 'CharacterClass':
      case 'CharacterSet':
        return this.#set(element.raw, after);
      case 'CapturingGroup':
        return this.oneOf(element.alternatives, after);
      case 'Group':
        return this.#group(element, after);
      case 'Quantifier':
        return this.#repeated(element, after);
      case 'Assertion':
        if (element.kind === 'lookahead' || element.kind === 'lookbehind') throw new NoProgramError();
        return after;
      default:
        throw new NoProgramError();
    }
  }

  #group({ alternatives, modifiers }: AST.Group, after: number): number {
    const flags = this.#flags;
    if (modifiers?.add.ignoreCase === true) this.#flags += 'i';
    if (modifiers?.add.dotAll === true) this.#flags += 's';
    if (modifiers?.remove?.ignoreCase === true) this.#flags = this.#flags.replaceAll('i', '');
    if (modifiers?.remove?.dotAll === true) this.#flags = this.#flags.replaceAll('s', '');
    const start = this.oneOf(alternatives, after);
    this.#flags = flags;
    return start;
  }

  /** One character of a set, which the language itself decides. */
  #set(raw: string, after: number): number {
    const flags = [...new Set(this.#flags)].join('');
    const one = new RegExp(raw, flags);
    // Without `u` the language knows fewer pairs of letters in both cases than RE2.
    const isAnyOther = flags.includes('i') && !flags.includes('u');
    const matches = (codePoint: number) => one.test(String.fromCodePoint(codePoint)) || (isAnyOther && codePoint > 127);
    return this.add({ next: [after], matches, isEnd: false });
  }

  #repeated({ element, min, max }: AST.Quantifier, after: number): number {
    let start = after;
    if (max === Number.POSITIVE_INFINITY) {
      const next: number[] = [];
      start = this.#fork(next);
      next.push(this.#element(element, start), after);
    } else for (let count = min; count < max; count += 1) start = this.#fork([this.#element(element, start), after]);
    for (let count = 0; count < min; count += 1) start = this.#element(element, start);
    return start;
  }

  #fork(next: readonly number[]): number {
    return this.add({ next, matches: undefined, isEnd: false });
  }
}
