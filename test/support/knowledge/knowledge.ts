import type { SearchResult } from '../../../src/engine/knowledge/search/search.ts';
import type { TestClient } from '../client.ts';
import type { Person } from '../make.ts';
import { eventually } from '../processes/eventually.ts';
import type { TestService } from '../service.ts';

export const searchLimits = { passagesMax: 8, tokensMax: 4_000 };

/** Searches as a run of this person does. */
export function searchOf(
  { deps }: Pick<TestService, 'deps'>,
  { tenantId, orgId, userId, keyId }: Pick<Person, 'tenantId' | 'orgId' | 'userId' | 'keyId'>,
  dataSourceIds: readonly string[],
  question: string,
): Promise<SearchResult> {
  const charge = { tenantId, orgId, userId, keyId, agentId: null, runId: null };
  return deps.knowledge.search({ orgId, dataSourceIds, question, charge }, searchLimits, AbortSignal.timeout(60_000));
}

const atRest = new Set(['INDEXED', 'FAILED']);

/** Waits until the indexing of a source is over. @returns the source. */
export function indexed(who: TestClient, dataSourceId: string) {
  return eventually(async () => {
    const { body } = await who.get(`/api/v1/data-sources/${dataSourceId}`);
    if (!atRest.has(body.indexStatus)) throw new Error(`still ${body.indexStatus} at ${body.indexPercentage} %`);
    return body;
  });
}

/** The items of a source, at most 20. */
export async function itemsOf(who: TestClient, dataSourceId: string) {
  return (await who.get(`/api/v1/data-sources/${dataSourceId}/knowledge`)).body.data;
}

/** Adds a file to an agent. */
export async function addFile(who: TestClient, agentId: string, filename: string, content: string | Uint8Array, type = '') {
  const form = new FormData();
  form.set('file', new File([content as BlobPart], filename, { type }));
  return who.post(`/api/v1/ais/${agentId}/data-sources/file`, form);
}

const words = 'one two three four five six seven eight nine ten eleven twelve'.split(' ');

/** Text of the given number of different paragraphs, about 100 tokens each. */
export function longText(paragraphs: number): string {
  return Array.from({ length: paragraphs }, (_, index) => {
    const sentence = (n: number) =>
      `Paragraph number ${words[(index + n) % 12]} speaks of topic ${index * 7 + n} and of nothing else.`;
    return Array.from({ length: 8 }, (_, n) => sentence(n)).join(' ');
  }).join('\n\n');
}
