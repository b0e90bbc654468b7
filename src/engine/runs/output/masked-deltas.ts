import type { TokenLogprob } from '../../../entities/conversations/runs/event.ts';
import { readLiteral, writeLiteral } from '../../../lib/json/string-literal.ts';
import type { RunMask, TextStream } from '../../tools/secrets/masking.ts';

export type SaidKind = 'text' | 'refusal' | 'reasoning';

/** Masks what a model says in pieces, and the arguments of its calls. All texts are JSON string literals, quotes included. */
export class MaskedDeltas {
  readonly #mask: RunMask;
  readonly #arguments = new Map<number, TextStream>();
  #kind: SaidKind | undefined;
  readonly #said: TextStream;
  /** Whether what is held back has characters that literals escape. What stands in place of values has none. */
  #hasEscapes = false;
  /** Tokens of the text since the last place at which nothing was held back. */
  #tokens: TokenLogprob[] = [];
  /** Secrets masked in what is said, up to that place. */
  #maskedBefore = 0;

  constructor(mask: RunMask) {
    this.#mask = mask;
    this.#said = mask.stream();
  }

  /** Secrets masked in what was said so far. */
  get maskedCount(): number {
    return this.#said.maskedCount;
  }

  /** What is said now; undefined: nothing. */
  get kind(): SaidKind | undefined {
    return this.#kind;
  }

  /** @returns the part of the text that may leave now. */
  feed(kind: SaidKind, json: string): string {
    this.#kind = kind;
    if (!this.#hasEscapes) {
      const left = this.#said.feedLiteral?.(json);
      if (left !== undefined) return left;
    }
    const text = this.#said.feed(readLiteral(json));
    this.#hasEscapes = this.#said.isHolding;
    return writeLiteral(text);
  }

  /** @returns the rest of what is said. */
  end(): string {
    const rest = this.#said.flush();
    this.#hasEscapes = false;
    this.#kind = undefined;
    this.#tokens = [];
    this.#maskedBefore = this.#said.maskedCount;
    return writeLiteral(rest);
  }

  /** Tokens would show a secret piece by piece: those of a masked text are left out, those of a text that is held back wait. */
  visibleTokens(tokens: readonly TokenLogprob[]): readonly TokenLogprob[] {
    this.#tokens.push(...tokens);
    if (this.#said.isHolding) return [];
    const visible = this.#said.maskedCount === this.#maskedBefore ? this.#tokens : [];
    this.#tokens = [];
    this.#maskedBefore = this.#said.maskedCount;
    return visible;
  }

  /** The arguments of a call as far as they may leave now. */
  argumentsOf(index: number, json: string): string {
    const stream = this.#arguments.get(index) ?? this.#mask.stream();
    this.#arguments.set(index, stream);
    return writeLiteral(stream.feed(readLiteral(json)));
  }

  /** The rest of the arguments of each call, by its index. */
  restOfArguments(): readonly (readonly [number, string])[] {
    const rest = [...this.#arguments].map(([index, stream]) => [index, writeLiteral(stream.flush())] as const);
    this.#arguments.clear();
    return rest;
  }
}
