import type { RunFeedback, RunFilter, RunKind, RunStatus } from './documents.ts';

/** What the address of the list says. Words of the reader's calendar, not moments: an address means the same tomorrow. */
export interface RunView {
  readonly search?: string;
  readonly status?: RunStatus;
  readonly kind?: RunKind;
  readonly feedback?: RunFeedback;
  readonly agent?: string;
  readonly person?: string;
  readonly key?: string;
  readonly model?: string;
  readonly tag?: string;
  /** How many days back, today included. */
  readonly days?: string;
  /** The first day, `2026-01-31`. */
  readonly since?: string;
  /** The last day. */
  readonly until?: string;
}

export const runStatuses = ['IN_PROGRESS', 'COMPLETED', 'FAILED', 'INCOMPLETE', 'CANCELLED'] as const;
export const runKinds = ['CHAT', 'RESPONSE', 'COMPLETION', 'SEARCH', 'EMBEDDING', 'PROFILE', 'COMPACTION'] as const;
export const runFeedbacks = ['ANY', 'UP', 'DOWN'] as const;

const names = [
  'search',
  'status',
  'kind',
  'feedback',
  'agent',
  'person',
  'key',
  'model',
  'tag',
  'days',
  'since',
  'until',
] as const;

export function readView(search: string): RunView {
  const params = new URLSearchParams(search);
  const view: Record<string, string> = {};
  for (const name of names) {
    const value = params.get(name);
    if (value !== null && value !== '') view[name] = value;
  }
  return {
    ...view,
    status: runStatuses.find((status) => status === view.status),
    kind: runKinds.find((kind) => kind === view.kind),
    feedback: runFeedbacks.find((feedback) => feedback === view.feedback),
  } as RunView;
}

/** The address of the list with some values changed; an empty one is taken out. */
export function buildAddress(search: string, changes: { readonly [Name in keyof RunView]: RunView[Name] | '' }): string {
  const params = new URLSearchParams(search);
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === '') params.delete(name);
    else params.set(name, value);
  }
  const text = params.toString();
  return text === '' ? '/runs' : `/runs?${text}`;
}

/** The same as the API takes it. */
export function toFilter({
  search,
  status,
  kind,
  feedback,
  agent,
  person,
  key,
  model,
  tag,
  days,
  since,
  until,
}: RunView): RunFilter {
  const dayCount = Number(days);
  const first = Number.isInteger(dayCount) && dayCount > 0 ? startOfDay(new Date(), 1 - dayCount) : getStart(since);
  return {
    search: search ?? null,
    status: status ?? null,
    kind: kind ?? null,
    feedback: feedback ?? null,
    agentId: agent ?? null,
    userId: person ?? null,
    keyId: key ?? null,
    modelId: model ?? null,
    tag: tag ?? null,
    since: first?.toISOString() ?? null,
    until: until === undefined ? null : (getStart(until, 1)?.toISOString() ?? null),
  };
}

/** When a day of the reader begins; undefined for what is no day. */
export function getStart(day: string | undefined, addedDays = 0): Date | undefined {
  const date = new Date(`${day}T00:00`);
  return Number.isNaN(date.getTime()) ? undefined : startOfDay(date, addedDays);
}

function startOfDay(date: Date, addedDays: number): Date {
  return new Date(date.getFullYear(), date.getMonth(), date.getDate() + addedDays);
}
