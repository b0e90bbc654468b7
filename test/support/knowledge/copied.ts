import { expect } from 'vitest';
import type { SearchAnswer } from '../../../src/engine/knowledge/search-index/search-index.ts';
import { eventually } from '../processes/eventually.ts';
import type { TestService } from '../service.ts';

/** The copy of a service with SEARCH_INDEX_URL. */
export function copyOfService({ deps }: TestService) {
  const { copy } = deps.knowledge;
  if (copy === undefined) throw new Error('the service has no SEARCH_INDEX_URL');
  return copy;
}

/** Waits until the index has everything, and answers searches. */
export function copied({ deps }: TestService): Promise<void> {
  const { states, changes } = deps.storage.knowledge.searchIndex;
  return eventually(async () => {
    const state = await states.read();
    expect(state).toMatchObject({ serving: expect.any(String), building: null });
    expect(await changes.next(1)).toEqual([]);
    const { copy } = deps.knowledge;
    expect(await copy?.index.shortcoming()).toBeUndefined();
  });
}

/** How many searches were answered in a way. */
export function answersOf(service: TestService, answer: SearchAnswer): number {
  return new Map(copyOfService(service).index.answers).get(answer) ?? 0;
}
