import { createContext, Script } from 'node:vm';
import type { Pattern } from './sources.ts';
import { type Part, partsOf, textOf } from './syntax.ts';

/** A text that costs an expression more than its length: repeat `unit` between `prefix` and `suffix`. */
export interface Attack {
  readonly prefix: string;
  readonly unit: string;
  readonly suffix: string;
  /** How much longer the time is for a text four times as long; Infinity where it was cut off. */
  readonly growth: number;
}

const firstChars = 12_000;
/** Faster than this, the first text was read in linear time: an expression that is quadratic in units of 20 characters takes 3.6 million steps for it. */
const harmlessMs = 1.5;
const cutOffMs = 1_000;
/** Linear: 4; quadratic: 16. */
const growthMax = 8;
const suffixes = ['', '\n\u0000'];

/**
 * Looks for a text that takes an expression more than linear time. The texts come from the expression: what each part of it and each run of its
 * parts matches is repeated, behind what the parts before match. Measures how the time grows with the length, not the time.
 */
export function attackOn(pattern: Pattern): Attack | undefined {
  const runner = new Runner(pattern);
  for (const { prefix, unit } of pumpsOf(pattern)) {
    for (const suffix of suffixes) {
      const timeOf = (chars: number) => runner.timeMs(prefix + unit.repeat(Math.ceil(chars / unit.length)) + suffix);
      const firstMs = timeOf(firstChars);
      if (firstMs < harmlessMs) continue;
      // The first time, an expression is compiled.
      const againMs = timeOf(firstChars);
      if (againMs < harmlessMs) continue;
      if (Math.min(firstMs, againMs) === Number.POSITIVE_INFINITY)
        return { prefix, unit, suffix, growth: Number.POSITIVE_INFINITY };
      const growth = growthOf(timeOf);
      if (growth > growthMax) return { prefix, unit, suffix, growth };
    }
  }
  return undefined;
}

function growthOf(timeOf: (chars: number) => number): number {
  let growth = Number.POSITIVE_INFINITY;
  // A machine that is busy makes one measurement longer, never shorter.
  for (let round = 0; round < 2 && growth > growthMax; round += 1) {
    const [short, long] = [timeOf(firstChars), timeOf(4 * firstChars)];
    growth = Math.min(growth, long === Number.POSITIVE_INFINITY ? long : long / Math.max(short, harmlessMs));
  }
  return growth;
}

const unitsMax = 80;
const runMax = 4;

function pumpsOf({ source, flags }: Pattern): readonly { readonly prefix: string; readonly unit: string }[] {
  const pumps = new Map<string, { readonly prefix: string; readonly unit: string }>();
  const add = (prefix: string, unit: string) => {
    if (unit !== '' && unit.length < 200 && pumps.size < unitsMax) pumps.set(`${prefix}\0${unit}`, { prefix, unit });
  };
  const walk = (alternatives: readonly (readonly Part[])[], prefix: string) => {
    for (const parts of alternatives) {
      for (const [index, part] of parts.entries()) {
        const before = prefix + textOf(parts.slice(0, index));
        if (part.max > 1) add(before, part.text);
        for (let end = index + 1; end <= Math.min(parts.length, index + runMax); end += 1) {
          add('', fullTextOf(parts.slice(index, end)));
          if (before !== '') add(before, fullTextOf(parts.slice(index, end)));
        }
        if (part.alternatives.length > 0) walk(part.alternatives, before);
      }
      add('', textOf(parts));
    }
  };
  walk(partsOf(source, flags), '');
  return [...pumps.values()];
}

/** Each part at least once. */
function fullTextOf(parts: readonly Part[]): string {
  return parts.map(({ text, min }) => text.repeat(Math.min(Math.max(min, 1), 70))).join('');
}

/** Times an expression over all its matches. What takes too long is cut off. */
class Runner {
  readonly #context: { text: string; pattern: RegExp };
  readonly #script = new Script('text.replace(pattern, "")');

  constructor({ source, flags }: Pattern) {
    this.#context = { text: '', pattern: new RegExp(source, flags.includes('g') ? flags : `${flags}g`) };
    createContext(this.#context);
  }

  timeMs(text: string): number {
    this.#context.text = text;
    // The limit is of the clock: on a busy machine it cuts off what had little of the processor, which is then tried with more.
    for (let timeoutMs = cutOffMs; ; timeoutMs *= 4) {
      // Of the processor, so that other work on the machine does not count.
      const before = process.threadCpuUsage();
      const isWhole = this.#reads(timeoutMs);
      const { user, system } = process.threadCpuUsage(before);
      const usedMs = (user + system) / 1_000;
      if (isWhole) return usedMs;
      if (usedMs >= cutOffMs / 2) return Number.POSITIVE_INFINITY;
    }
  }

  #reads(timeoutMs: number): boolean {
    try {
      this.#script.runInContext(this.#context, { timeout: timeoutMs });
      return true;
    } catch {
      return false;
    }
  }
}
