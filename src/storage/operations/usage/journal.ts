import { closeSync, openSync, readdirSync, readFileSync, rmSync, statSync, unlinkSync, writeSync, writevSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { makeFolderSync } from '../../../lib/files/folders.ts';
import { readUsageLine, toUsageLine, type UsageLine, type UsageRow } from '../../ground/ledger/ledger.ts';
import type { UnstoredRun } from '../../ground/ledger/unstored.ts';

export interface JournalPart {
  /** Deletes the file. Call it once its rows are in the database. */
  remove(): void;
}

export interface LeftPart extends JournalPart {
  /** The process that wrote the part: these rows are subtracted from its reservations. */
  readonly owner: string;
  readonly rows: readonly UsageRow[];
  readonly runs: readonly UnstoredRun[];
  readonly held: readonly HeldRows[];
}

/** Charges of a run that count once its end is stored under this fence: the process died before it knew. */
export interface HeldRows {
  readonly runId: string;
  readonly fence: number;
  readonly rows: readonly UsageRow[];
}

/** The first line of a part. */
interface PartHead {
  readonly owner: string;
  readonly host: string;
  readonly pid: number;
}

const abandonedAfterMs = 10 * 60_000;
const ending = '.jsonl';

/**
 * A journal of usage rows, and of runs that are not stored, on disk until they are in the database. An appended row survives a kill of the process: the next start on the same folder
 * finds it. It does not survive a power failure, because the files are not flushed.
 * `folder` is made with the first row. `owner` names this process, unique among all processes that ever use the folder.
 */
export class UsageJournal {
  readonly #folder: string;
  readonly #owner: string;
  readonly #head: string;
  #partsMade = 0;
  /** Lines that every new part begins with, until they are dropped. */
  readonly #held = new Set<object>();
  #open: { readonly path: string; readonly descriptor: number } | undefined;

  constructor(folder: string, owner: string) {
    this.#folder = folder;
    this.#owner = owner;
    this.#head = JSON.stringify({ owner, host: hostname(), pid: process.pid } satisfies PartHead);
  }

  /** Appends lines to the open part. Synchronous, about 4 µs; after it returns, a kill cannot lose them. @throws Error of the file system. */
  append(...lines: readonly Uint8Array[]): void {
    writevSync((this.#open ?? this.#openPart()).descriptor, lines);
  }

  /** Keeps charges that count only once the end of their run is stored. @returns drops them: they are appended, or another process has the run. */
  hold({ runId, fence, rows }: HeldRows): () => void {
    const line = { runId, fence, held: rows.map(toUsageLine) };
    this.append(Buffer.from(`${JSON.stringify(line)}\n`));
    this.#held.add(line);
    return () => {
      this.#held.delete(line);
    };
  }

  /** Closes the open part; it holds exactly the rows appended since the last call. Undefined when there are none. */
  closePart(): JournalPart | undefined {
    if (this.#open === undefined) return undefined;
    const { path, descriptor } = this.#open;
    this.#open = undefined;
    closeSync(descriptor);
    // What is held must outlive the part.
    if (this.#held.size > 0) this.#openPart();
    return { remove: () => unlinkSync(path) };
  }

  /**
   * The parts of processes that ended without removing them. A part of a living process of this machine is excluded; a part of another machine is
   * included once it has not changed for ten minutes. Reading a part twice is harmless: the ledger has each row once, by its id.
   */
  leftBehind(): readonly LeftPart[] {
    return partsIn(this.#folder).flatMap((path) => {
      const part = readPart(path);
      return part === undefined || part.head.owner === this.#owner || !isAbandoned(path, part.head)
        ? []
        : [{ ...part.lines, owner: part.head.owner, remove: () => rmSync(path, { force: true }) }];
    });
  }

  #openPart() {
    makeFolderSync(this.#folder);
    this.#partsMade += 1;
    const path = join(this.#folder, `${this.#owner}-${this.#partsMade}${ending}`);
    const descriptor = openSync(path, 'ax', 0o600);
    this.#open = { path, descriptor };
    writeSync(descriptor, `${this.#head}\n`);
    for (const line of this.#held) writeSync(descriptor, `${JSON.stringify(line)}\n`);
    return this.#open;
  }
}

function partsIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith(ending))
      .map((name) => join(folder, name));
  } catch {
    // No folder: no row was ever appended.
    return [];
  }
}

/** Undefined for a part without a complete first line: it holds no row. An incomplete last line is ignored: a kill cut it short. */
function readPart(path: string): { readonly lines: Omit<LeftPart, 'owner' | 'remove'>; readonly head: PartHead } | undefined {
  const [first, ...rest] = readFileSync(path, 'utf8').split('\n').slice(0, -1);
  if (first === undefined) return undefined;
  const [rows, runs, held]: [UsageRow[], UnstoredRun[], HeldRows[]] = [[], [], []];
  for (const text of rest) {
    const line = JSON.parse(text) as UsageLine | RunLine | HeldLine;
    if ('held' in line) held.push({ runId: line.runId, fence: line.fence, rows: line.held.map(readUsageLine) });
    else if ('createdAt' in line) rows.push(readUsageLine(line));
    else runs.push(toRun(line));
  }
  return { head: JSON.parse(first) as PartHead, lines: { rows, runs, held } };
}

function toRun({ usage = null, ...line }: RunLine): UnstoredRun {
  return { ...line, usage, startedAt: new Date(line.startedAt), endedAt: new Date(line.endedAt) };
}

type HeldLine = { readonly runId: string; readonly fence: number; readonly held: readonly UsageLine[] };
/** Journals of older versions have times in milliseconds, and the usage as a member of its own. */
type RunLine = Omit<UnstoredRun, 'startedAt' | 'endedAt' | 'usage'> & {
  readonly startedAt: string | number;
  readonly endedAt: string | number;
  readonly usage?: UnstoredRun['usage'];
};

function isAbandoned(path: string, { host, pid }: PartHead): boolean {
  // In a container every start may have the same process number: a part with our number and another owner is of an earlier process.
  if (host === hostname() && (pid === process.pid || !isAlive(pid))) return true;
  return Date.now() - statSync(path).mtimeMs > abandonedAfterMs;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // The process belongs to another user, and lives.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
