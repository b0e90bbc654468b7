import { PGlite } from '@electric-sql/pglite';

/**
 * What PostgreSQL is started with.
 *
 * - PGlite's own switches fsync off. Syncing goes by `fsync`, the only call for it that reaches our files.
 * - Of the two kinds of shared memory, PGlite fills the mapped one (`mmap`, the default) with zeros: 145 MB would be resident before the first page is
 *   read. Of the other one (`sysv`) only what was used is. PGlite does not clear it; a test holds that PostgreSQL itself writes the part that is not
 *   empty.
 * - Pages are never given back once they were used, and completions fill new ones as long as they come. What does not fit is in the file cache of the
 *   system: a search of 100,000 passages reads 371 pages from there instead of 116 with 128 MB, in the same processor time.
 * - Little log is kept for reuse: a small disk has better use for the room.
 * - Triggers that tell other processes of changes see whether there are any.
 */
export function startParams({ isShared }: { readonly isShared: boolean }): string[] {
  const own = PGlite.defaultStartParams.filter((param) => param !== '-F');
  const settings = [
    'wal_sync_method=fsync',
    'shared_memory_type=sysv',
    'shared_buffers=48MB',
    'min_wal_size=32MB',
    'max_wal_size=128MB',
    `parley.single_process=${isShared ? 'off' : 'on'}`,
    'timezone=UTC',
  ];
  return [...own, ...settings.flatMap((setting) => ['-c', setting])];
}
