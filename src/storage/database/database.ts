import type { Pool } from 'pg';
import type { ChangeRecord } from '../audit/recorded-pool.ts';
import type { PrismaOnPool } from './prisma.ts';
import type { Room } from './room.ts';
import type { StatementClass } from './statement-limits.ts';
import type { VectorSupport } from './vector-extension.ts';

/** The database behind every store: one pool, one Prisma client on it. */
export interface Database extends PrismaOnPool {
  readonly pool: Pool;
  readonly kind: 'embedded' | 'server';
  /** Most bytes of the rows of one page (LIST_PAGE_MAX_BYTES), and of a list without pages (REPLY_MAX_BYTES). */
  readonly pageMaxBytes: number;
  readonly listMaxBytes: number;
  readonly room: Room;
  readonly vectors: VectorSupport;
  /** Runs `work` with the statement time limits of this class; the default is `interactive`. */
  runAs<T>(kind: StatementClass, work: () => T): T;
  /** Runs `work`; its first transaction that changes something also writes the record, or fails (recorded-pool.ts). */
  recorded<T>(record: ChangeRecord, work: () => T): T;
  /** The record of the current work; undefined outside `recorded`. */
  currentRecord(): ChangeRecord | undefined;
  close(): Promise<void>;
}
