import type { CaseContent, WantedCall } from '../../entities/conversations/evaluation/dataset.ts';
import type { Score, ScoredAnswer, Scorer, ScorerKind } from '../../entities/conversations/evaluation/experiment.ts';
import { isObject, parseJson } from '../../lib/json/json.ts';
import { oneLine } from '../../lib/text/text.ts';
import { createSchemaCheck } from '../tools/json-schema/check.ts';
import { compileLinearPattern } from '../tools/json-schema/linear-pattern.ts';
import { findNumbers, isWithin } from './numbers.ts';
import { declines } from './refusal.ts';

type Outcome = Pick<Score, 'passed' | 'value' | 'note'> | undefined;
type PureKind = Exclude<ScorerKind, 'JUDGE' | 'JUDGE_PAIR'>;

/** What scorers read of a case. */
export type Expectations = Pick<
  CaseContent,
  'expected' | 'mustContain' | 'mustNotContain' | 'mustCite' | 'mustCall' | 'mustNotCall' | 'mustRefuse'
>;

/**
 * Scores an answer without a model.
 *
 * @returns undefined where the case says nothing that the scorer asks for, and for judges.
 */
export function scoreAnswer(scorer: Scorer, expectations: Expectations, answer: ScoredAnswer): Score | undefined {
  if (scorer.kind === 'JUDGE' || scorer.kind === 'JUDGE_PAIR') return undefined;
  const outcome = scorers[scorer.kind](answer, expectations, scorer);
  return outcome === undefined ? undefined : { kind: scorer.kind, error: null, ...outcome };
}

const scorers: Readonly<Record<PureKind, (answer: ScoredAnswer, wanted: Expectations, scorer: Scorer) => Outcome>> = {
  EQUALS: ({ text }, { expected }) =>
    expected === null ? undefined : passOrFail(plain(text) === plain(expected), 'It is not the expected answer'),
  CONTAINS: ({ text }, { mustContain, mustNotContain }) => {
    const words = plain(text);
    const lacking = mustContain.filter((fact) => !words.includes(plain(fact)));
    const unwanted = mustNotContain.filter((fact) => words.includes(plain(fact)));
    return shareOf(
      mustContain.length + mustNotContain.length,
      [...note('lacks', lacking), ...note('has', unwanted)],
      lacking.length + unwanted.length,
    );
  },
  MATCHES: ({ text }, _wanted, { pattern }) =>
    passOrFail(compileLinearPattern(pattern ?? '', () => undefined).test(text), `It does not match ${pattern}`),
  JSON_SCHEMA: ({ text }, _wanted, { schema }) => {
    const value = parseJson(text);
    if (value === undefined) return passOrFail(false, 'It is not JSON');
    const fault = createSchemaCheck(schema ?? {})(value);
    return passOrFail(fault === undefined, fault === undefined ? '' : oneLine(`${fault.value} ${fault.message}`).trim());
  },
  NUMBERS: ({ text }, { expected }, { tolerance }) => {
    const wanted = findNumbers(expected ?? '');
    const there = findNumbers(text);
    const lacking = wanted.filter((number) => !there.some((one) => isWithin(one, number, tolerance ?? 0)));
    return shareOf(wanted.length, note('lacks', lacking.map(String)), lacking.length);
  },
  CITES: ({ citations }, { mustCite }) => {
    const lacking = mustCite.filter((document) => !citations.some((citation) => isCited(citation, document)));
    return shareOf(mustCite.length, note('does not cite', lacking), lacking.length);
  },
  CITES_NO_OTHER: ({ citations }, { mustCite }) => {
    if (mustCite.length === 0) return undefined;
    const others = citations.filter((citation) => !mustCite.some((document) => isCited(citation, document)));
    return passOrFail(others.length === 0, note('cites', [...new Set(others.map(({ name }) => name))]).join(''));
  },
  REFUSES: ({ text, isRefusal }, { mustRefuse }) => {
    if (mustRefuse === null) return undefined;
    const hasRefused = isRefusal || declines(text);
    return passOrFail(hasRefused === mustRefuse, hasRefused ? 'It refuses to answer' : 'It answers, and should not');
  },
  TOOL_CALLS: ({ calls }, { mustCall, mustNotCall }) => {
    const lacking = findLacking(mustCall, calls);
    const unwanted = mustNotCall.filter((name) => calls.some((call) => call.name === name));
    const notes = [
      ...note(
        'does not call',
        lacking.map(({ name }) => name),
      ),
      ...note('calls', unwanted),
    ];
    return shareOf(mustCall.length + mustNotCall.length, notes, lacking.length + unwanted.length);
  },
  LATENCY: ({ durationMs }, _wanted, { max }) => atMost(durationMs, max, 'ms'),
  TOKENS: ({ tokens }, _wanted, { max }) => atMost(tokens, max, 'tokens'),
  COST: ({ cost }, _wanted, { max }) => (cost === null ? undefined : atMost(cost, max, '')),
};

/** As people compare texts: without case, and with single spaces. */
function plain(text: string): string {
  return oneLine(text).normalize('NFKC').replaceAll(/\s+/g, ' ').trim().toLowerCase();
}

function passOrFail(passed: boolean, why: string): Outcome {
  return { passed, value: passed ? 1 : 0, note: passed ? '' : why };
}

/** @returns undefined when nothing is asked. */
function shareOf(asked: number, notes: readonly string[], missed: number): Outcome {
  if (asked === 0) return undefined;
  return { passed: missed === 0, value: (asked - missed) / asked, note: notes.join('. ') };
}

function note(verb: string, things: readonly string[]): readonly string[] {
  return things.length === 0 ? [] : [`It ${verb} ${things.map((thing) => `“${thing}”`).join(', ')}`.slice(0, 1_000)];
}

function atMost(value: number, max: number | null, unit: string): Outcome {
  return passOrFail(value <= (max ?? Number.POSITIVE_INFINITY), `${value} ${unit} are more than ${max}`.replace('  ', ' '));
}

function isCited({ itemId, name }: ScoredAnswer['citations'][number], document: string): boolean {
  return itemId === document || plain(name) === plain(document);
}

/** The wanted calls that were not made. A call stands for one wanted call: of all ways to pair them, as many as can be are paired. */
function findLacking(wantedCalls: readonly WantedCall[], calls: ScoredAnswer['calls']): readonly WantedCall[] {
  const pairs = new Map<ScoredAnswer['calls'][number], WantedCall>();
  const pair = (wanted: WantedCall, seen: Set<unknown>): boolean =>
    calls.some((call) => {
      if (seen.has(call) || !isWanted(call, wanted)) return false;
      seen.add(call);
      const other = pairs.get(call);
      // The other may take another call.
      if (other !== undefined && !pair(other, seen)) return false;
      pairs.set(call, wanted);
      return true;
    });
  return wantedCalls.filter((wanted) => !pair(wanted, new Set()));
}

function isWanted(call: ScoredAnswer['calls'][number], wanted: WantedCall): boolean {
  if (call.name !== wanted.name) return false;
  const args = parseJson(call.arguments);
  return Object.entries(wanted.arguments ?? {}).every(([name, value]) => isObject(args) && isSame(args[name], value));
}

function isSame(left: unknown, right: unknown): boolean {
  if (Array.isArray(left) && Array.isArray(right))
    return left.length === right.length && left.every((item, index) => isSame(item, right[index]));
  if (isObject(left) && isObject(right)) {
    const names = Object.keys(left);
    return names.length === Object.keys(right).length && names.every((name) => isSame(left[name], right[name]));
  }
  return left === right;
}
