import type { Storage } from '../../../src/storage/storage.ts';

/** The storage of a frame whose routes and fields keep nothing: work runs, and there is no statement that would wait for its turn. */
export const noDatabase = { db: { runFor: <T>(_ownerOf: unknown, work: () => T): T => work() } } as unknown as Storage;
