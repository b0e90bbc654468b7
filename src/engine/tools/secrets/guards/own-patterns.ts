import type { GuardPattern } from '../../../../entities/agents/guard.ts';
import { compileLinearPattern, type LinearPattern } from '../../json-schema/linear-pattern.ts';
import { Automaton, type PartsOfText } from './automaton.ts';
import type { Finding, GuardEngine } from './port.ts';

/** A pattern that people wrote. */
export interface OwnPattern extends GuardPattern {
  /** Compiled by the first call: that takes a tenth of a millisecond. @throws PatternError for what is no pattern of RE2. */
  compile(): LinearPattern;
  /** Reads texts for all of these at once; undefined where one of them has no program. */
  joinedWith(patterns: readonly OwnPattern[]): Automaton | undefined;
}

/** Guards whose automaton is kept: the states that it has made serve all runs. */
const automataMax = 32;

/** Makes a function that gives the same for a pattern as long as that is kept, so that it is compiled once for all runs. */
export function createOwnPatterns(): (pattern: GuardPattern) => OwnPattern {
  const ownPatterns = new WeakMap<GuardPattern, OwnPattern>();
  const numbers = new WeakMap<OwnPattern, number>();
  const automata = new Map<string, Automaton | undefined>();
  let lastNumber = 0;
  const joinedWith = (patterns: readonly OwnPattern[]) => {
    const key = patterns.map((each) => numbers.get(each)).join();
    if (!automata.has(key)) {
      const [oldest] = automata.keys();
      if (automata.size >= automataMax && oldest !== undefined) automata.delete(oldest);
      automata.set(key, joinPatterns(patterns));
    }
    return automata.get(key);
  };
  return (pattern) => {
    const existing = ownPatterns.get(pattern);
    if (existing !== undefined) return existing;
    let linear: LinearPattern | undefined;
    const compile = () => {
      linear ??= compileLinearPattern(pattern.pattern, () => undefined);
      return linear;
    };
    const own = { ...pattern, compile, joinedWith };
    lastNumber += 1;
    numbers.set(own, lastNumber);
    ownPatterns.set(pattern, own);
    return own;
  };
}

function joinPatterns(patterns: readonly OwnPattern[]): Automaton | undefined {
  const programs = patterns.map((each) => each.compile().program());
  return programs.every((program) => program !== undefined) ? new Automaton(programs) : undefined;
}

/**
 * An engine of patterns that people wrote. An automaton reads the text; RE2 sees the parts in which it ended. Linear, whatever they are.
 *
 * @throws PatternError for what is no pattern of RE2.
 */
export function createOwnEngine(patterns: readonly OwnPattern[]): GuardEngine {
  const own = patterns.map((each) => ({ name: each.name, lengthMax: each.lengthMax, linear: each.compile() }));
  const lengthMax = Math.max(0, ...patterns.map((each) => each.lengthMax));
  const automaton = patterns[0]?.joinedWith(patterns);
  // The place and the values of one text are asked for one after the other.
  let lastText = '';
  let last: PartsOfText = { open: 0, parts: [] };
  const read = (text: string): PartsOfText => {
    if (text === lastText) return last;
    lastText = text;
    last =
      automaton === undefined
        ? { open: 0, parts: [{ from: 0, to: text.length, patterns: new Map(own.map((_, place) => [place, text.length])) }] }
        : automaton.readParts(text);
    return last;
  };
  return {
    find(text, before) {
      const findings: Finding[] = [];
      for (const { from, to, patterns: places } of read(text).parts) {
        // `\b` asks for the character before.
        const part = from === 0 ? before + text.slice(0, to) : text.slice(from - 1, to);
        const offset = from === 0 ? -before.length : from - 1;
        for (const [place, lastEnd] of places) {
          const pattern = own[place];
          const take = (start: number, end: number) => {
            if (pattern !== undefined && end - start <= pattern.lengthMax)
              findings.push({ start: start + offset, end: end + offset, kind: 'CUSTOM', label: pattern.name });
          };
          pattern?.linear.each(part, take, from - offset, lastEnd - offset);
        }
      }
      return findings;
    },
    openAt: (text) => Math.max(0, text.length - Math.max(0, lengthMax - 1), read(text).open),
    reading: automaton === undefined ? undefined : { type: 'automaton', automaton, lengthMax },
  };
}

/** An engine of values that a model has named. */
export function createValueEngine(values: readonly string[]): GuardEngine {
  const longest = values.reduce((most, value) => Math.max(most, value.length), 0);
  return {
    find(text) {
      const findings: Finding[] = [];
      for (const value of values) {
        for (let start = text.indexOf(value); start !== -1; start = text.indexOf(value, start + value.length))
          findings.push({ start, end: start + value.length, kind: 'PERSONAL', label: 'PERSONAL' });
      }
      return findings;
    },
    openAt(text) {
      for (let start = Math.max(0, text.length - longest + 1); start < text.length; start += 1)
        if (values.some((value) => value.startsWith(text.slice(start)))) return start;
      return text.length;
    },
    reading: { type: 'ordinary', beginnings: values },
  };
}
