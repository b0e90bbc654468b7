import { setTimeout as wait } from 'node:timers/promises';
import { type JsonObject, membersOf, readElements } from '../../src/lib/json/json.ts';
import type { Service } from './service.ts';

export interface Source extends JsonObject {
  readonly id: string;
  readonly name: string;
  readonly indexStatus: string;
  readonly indexPercentage: string;
  readonly errorMessage: string | null;
}

/** Nothing more happens to such a source by itself. */
const atRest: ReadonlySet<string> = new Set(['INDEXED', 'FAILED', 'CANCELLED', 'DELETING']);
const pollEveryMs = 500;

export function isAtRest({ indexStatus }: Source): boolean {
  return atRest.has(indexStatus);
}

export async function sourcesOf(service: Service, agentId: string): Promise<readonly Source[]> {
  return (membersOf(await service.send('GET', `/api/v1/ais/${agentId}/data-sources`)).data ?? []) as Source[];
}

/**
 * Follows the sources of an agent until each of them is indexed or has failed.
 *
 * @param isWanted  which of them.
 * @param onChange  is told all of them at each look.
 * @param timeoutMs  Infinity to wait as long as it takes.
 */
export async function whenIndexed(
  service: Service,
  agentId: string,
  isWanted: (source: Source) => boolean,
  onChange: (sources: readonly Source[]) => void,
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<readonly Source[]> {
  const untilMs = performance.now() + timeoutMs;
  for (;;) {
    const sources = (await sourcesOf(service, agentId)).filter(isWanted);
    onChange(sources);
    if (sources.every(isAtRest) || performance.now() >= untilMs) return sources;
    await wait(pollEveryMs, undefined, { signal });
  }
}

/** How much of all sources is indexed, in whole percent. */
export function percentOf(sources: readonly Source[]): number {
  const percents: readonly number[] = sources.map((source) => (isAtRest(source) ? 100 : Number(source.indexPercentage)));
  return percents.length === 0 ? 100 : Math.floor(percents.reduce((sum, percent) => sum + percent, 0) / percents.length);
}

/** Why a source failed: in its own words, else in those of its items. Null for one that did not fail. */
export async function failureOf(service: Service, source: Source): Promise<string | null> {
  if (source.indexStatus !== 'FAILED' || source.errorMessage !== null) return source.errorMessage;
  const items = readElements(membersOf(await service.send('GET', `/api/v1/data-sources/${source.id}/knowledge`)).data);
  const messages = items.map((item) => membersOf(item).errorMessage).filter((message) => typeof message === 'string');
  return messages.length === 0 ? null : [...new Set(messages)].join(' ');
}
