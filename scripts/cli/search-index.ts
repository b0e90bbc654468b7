import { setTimeout as wait } from 'node:timers/promises';
import { SearchedCopy } from '../../src/engine/knowledge/search-index/copy.ts';
import { makeId } from '../../src/entities/ground/ids.ts';
import { StartRefusal } from '../../src/storage/ground/opening/start-refusal.ts';
import { createPostgresIndex } from '../../src/storage/knowledge/search-index/postgres.ts';
import { SearchIndexError } from '../../src/storage/knowledge/search-index/search-index.ts';
import { openStorage } from '../../src/storage/storage.ts';
import { exitCodes, Failure } from './failure.ts';
import { fail, openData } from './local.ts';
import type { Screen } from './output/screen.ts';

const inUse =
  'A service with an embedded database builds the index itself when it is missing: delete the index at the OpenSearch, or stop the service and repeat this.';

export const searchIndexHelp = `parley search-index rebuild

Builds the search index of SEARCH_INDEX_URL anew from the database, and lets searches go to it once it is complete; the one before answers
until then. It opens the database (DATABASE_URL) or the data folder (DATA_DIR) itself, beside services that run. Stopped in between,
it goes on where it was: by the services, or when it is called again.

Example:
  SEARCH_INDEX_URL=https://user:password@search.example.com:9200/parley parley search-index rebuild`;

/** @throws Failure when the data cannot be opened, or the OpenSearch cannot be used. */
export async function rebuildSearchIndex(env: NodeJS.ProcessEnv, screen: Screen, signal: AbortSignal): Promise<string> {
  let url: string | undefined;
  const data = await openData(env, inUse, async (settings, logger) => {
    url = settings.SEARCH_INDEX_URL;
    const storage = await openStorage(settings, { onError: (error, isFatal) => (isFatal ? fail(error) : undefined) });
    return { storage, settings, logger };
  });
  const { storage, settings, logger } = data;
  try {
    if (url === undefined) throw new Failure('SEARCH_INDEX_URL is not set: there is no search index.', exitCodes.failed);
    const copy = new SearchedCopy(url, {
      ...{ storage, settings, logger },
      hasVectors: storage.knowledge.embeddings !== undefined,
      database: createPostgresIndex(storage.knowledge.chunks, storage.knowledge.embeddings),
      newId: () => makeId('searchIndex', Date.now()),
    });
    try {
      await copy.prepare();
      const show = (done: number, total: number) => screen.progress(`${done} of about ${total} documents`);
      await copy.rebuild(show, (ms) => wait(ms, undefined, { signal }), signal);
    } catch (error) {
      if (error instanceof StartRefusal) throw new Failure(error.message, exitCodes.failed);
      if (!(error instanceof SearchIndexError)) throw error;
      throw new Failure(`The search index could not be built: of SEARCH_INDEX_URL, ${error.message}.`, exitCodes.failed);
    } finally {
      screen.progress('');
      await copy.close();
    }
    return 'The search index was built anew and answers searches.';
  } finally {
    await storage.close();
  }
}
