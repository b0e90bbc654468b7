import type { GuardPattern } from '../../../../entities/agents/guard.ts';
import { compileLinearPattern, type LinearPattern } from '../../json-schema/linear-pattern.ts';
import type { Finding, GuardEngine } from './port.ts';

/** A pattern that people wrote. */
export interface OwnPattern extends GuardPattern {
  /** Compiled by the first call: that takes a tenth of a millisecond. @throws PatternError for what is no pattern of RE2. */
  compile(): LinearPattern;
}

/** Makes a function that gives the same for a pattern as long as that is kept, so that it is compiled once for all runs. */
export function createOwnPatterns(): (pattern: GuardPattern) => OwnPattern {
  const ownPatterns = new WeakMap<GuardPattern, OwnPattern>();
  return (pattern) => {
    const existing = ownPatterns.get(pattern);
    if (existing !== undefined) return existing;
    let linear: LinearPattern | undefined;
    const compile = () => {
      linear ??= compileLinearPattern(pattern.pattern, () => undefined);
      return linear;
    };
    const own = { ...pattern, compile };
    ownPatterns.set(pattern, own);
    return own;
  };
}

/**
 * An engine of patterns that people wrote, by RE2: linear, whatever they are.
 *
 * @throws PatternError for what is no pattern of RE2.
 */
export function createOwnEngine(patterns: readonly OwnPattern[]): GuardEngine {
  const own = patterns.map((each) => ({ name: each.name, lengthMax: each.lengthMax, linear: each.compile() }));
  const lengthMax = Math.max(0, ...patterns.map((each) => each.lengthMax));
  return {
    find(text) {
      const findings: Finding[] = [];
      for (const { name, linear, lengthMax: most } of own) {
        linear.each(text, (start, end) => {
          if (end - start <= most) findings.push({ start, end, kind: 'CUSTOM', label: name });
        });
      }
      return findings;
    },
    openAt: (text) => Math.max(0, text.length - Math.max(0, lengthMax - 1)),
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
  };
}
