import type { RunFilter, RunGrouping } from './documents.ts';

/** What usage is counted by. */
export const parts = ['agent', 'person', 'key', 'model'] as const;
export type Part = (typeof parts)[number];
export const measures = ['cost', 'tokens', 'runs'] as const;
export type Measure = (typeof measures)[number];
export const ranges = [7, 30, 90] as const;

/** What the address says. Days are those of UTC, as the service counts them. */
export interface UsageView {
  readonly by: Part;
  /** Undefined: what it cost, or tokens where no price is known. */
  readonly measure: Measure | undefined;
  /** One of `ranges`, unless the reader chose days of their own. */
  readonly days: number | undefined;
  /** The first and the last day, `2026-01-31`. */
  readonly from: string;
  readonly to: string;
}

const dayMs = 86_400_000;

export function readView(search: string, now = Date.now()): UsageView {
  const params = new URLSearchParams(search);
  const from = formatDay(params.get('from'));
  const to = formatDay(params.get('to'));
  const days = from === undefined ? (ranges.find((range) => String(range) === params.get('days')) ?? 30) : undefined;
  const today = new Date(now).toISOString().slice(0, 10);
  return {
    by: parts.find((part) => part === params.get('by')) ?? 'agent',
    measure: measures.find((measure) => measure === params.get('measure')),
    days,
    from: from ?? new Date(now - ((days ?? 30) - 1) * dayMs).toISOString().slice(0, 10),
    to: (from === undefined ? undefined : to) ?? today,
  };
}

function formatDay(text: string | null): string | undefined {
  return text !== null && /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)) ? text : undefined;
}

/** The address with some values changed; null takes one out. */
export function buildAddress(search: string, changes: Readonly<Record<string, string | null>>): string {
  const params = new URLSearchParams(search);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === '') params.delete(name);
    else params.set(name, value);
  }
  return params.size === 0 ? '/usage' : `/usage?${params}`;
}

/** The days as moments: from the first, and before the second. */
export function getPeriod({ from, to }: UsageView): { readonly since: string; readonly until: string } {
  return { since: `${from}T00:00:00.000Z`, until: new Date(Date.parse(to) + dayMs).toISOString() };
}

/** Each day of the range, in order; at most a hundred. */
export function listDays({ from, to }: UsageView): readonly string[] {
  const count = Math.min(100, Math.floor((Date.parse(to) - Date.parse(from)) / dayMs) + 1);
  return Array.from({ length: Math.max(0, count) }, (_, day) =>
    new Date(Date.parse(from) + day * dayMs).toISOString().slice(0, 10),
  );
}

export const groupings: Readonly<Record<Part, RunGrouping>> = { agent: 'AGENT', person: 'USER', key: 'KEY', model: 'MODEL' };

/** Narrows runs to one agent, person, key or model. */
export function filterOfOne(part: Part, id: string): RunFilter {
  return { agent: { agentId: id }, person: { userId: id }, key: { keyId: id }, model: { modelId: id } }[part];
}

/** Which list of the ledger is asked for. */
export const toLedger = (part: Part | undefined) => ({
  byAgent: part === 'agent',
  byPerson: part === 'person',
  byKey: part === 'key',
  byModel: part === 'model',
});
