import { setTimeout as wait } from 'node:timers/promises';
import type { Fields, RedisSession } from './session.ts';

/** What comes within this time goes together. */
const gatherMs = 5;
/** Most bytes of one entry, about. A batch of events that is longer is read from the database. */
const entryCharsMax = 64 * 1024;
/** While Redis does not answer, so many requests wait for it; older ones are looked up from the database. */
const keptMax = 1_000;

/** Sends what this process says, gathered into few entries. Never makes anybody wait; what cannot be sent is found in the database. */
export class RedisOutbox {
  readonly #origin: string;
  readonly #session: () => RedisSession | undefined;
  readonly #lines = { control: new Set<string>(), lists: new Set<string>() };
  /** By process: names and values of the next entry of its inbox. */
  readonly #told = new Map<string, string[]>();
  readonly #numbers = { control: 0, lists: 0 };
  #hasGap = false;
  #sending: Promise<void> | undefined;
  sent = 0;

  constructor(origin: string, session: () => RedisSession | undefined) {
    this.#origin = origin;
    this.#session = session;
  }

  add(stream: 'control' | 'lists', line: string): void {
    const lines = this.#lines[stream];
    if (this.#session() === undefined && (stream === 'lists' || lines.size >= keptMax)) return;
    lines.add(line);
    this.#begin();
  }

  tell(origins: readonly string[], runId: string, batch: string): void {
    if (origins.length === 0 || this.#session() === undefined) return;
    for (const origin of origins) {
      const fields = this.#told.get(origin) ?? [];
      this.#told.set(origin, fields);
      fields.push(runId, batch.length > entryCharsMax ? '' : batch);
    }
    this.#begin();
  }

  /** Says that something of this process may have been lost. */
  addGap(): void {
    this.#hasGap = true;
    this.#begin();
  }

  async idle(): Promise<void> {
    await this.#sending;
  }

  /** What an entry of a shared stream says; no lines: something was lost. */
  static read(fields: Fields): {
    readonly from: string | undefined;
    readonly number: number;
    readonly lines: readonly string[] | undefined;
  } {
    const [kind, from, number, text = ''] = fields;
    if (kind === 'hello') return { from: undefined, number: 0, lines: [] };
    return { from, number: Number(number), lines: kind === 'gap' ? undefined : text.split('\n') };
  }

  #begin(): void {
    this.#sending ??= this.#send();
  }

  async #send(): Promise<void> {
    await wait(gatherMs, undefined, { ref: false });
    for (let session = this.#session(); session !== undefined && this.#hasMore(); session = this.#session()) {
      // A failed command ends the session, or the entry is of no use.
      await Promise.allSettled(this.#entries(session));
    }
    this.#sending = undefined;
  }

  #hasMore(): boolean {
    return this.#hasGap || this.#lines.control.size > 0 || this.#lines.lists.size > 0 || this.#told.size > 0;
  }

  /** Sends everything, in one turn: the client writes it at once. */
  #entries(session: RedisSession): readonly Promise<void>[] {
    const sending: Promise<void>[] = [];
    if (this.#hasGap) sending.push(session.send('control', ['gap', this.#origin, String(this.#number('control')), '']));
    this.#hasGap = false;
    for (const stream of ['control', 'lists'] as const) {
      for (const text of texts(this.#lines[stream])) {
        sending.push(session.send(stream, ['news', this.#origin, String(this.#number(stream)), text]));
      }
      this.#lines[stream].clear();
    }
    for (const [origin, fields] of this.#told) {
      for (const part of parts(fields)) sending.push(session.sendTo(origin, part));
    }
    this.#told.clear();
    this.sent += sending.length;
    return sending;
  }

  #number(stream: 'control' | 'lists'): number {
    this.#numbers[stream] += 1;
    return this.#numbers[stream];
  }
}

/** Lines in texts of some length. */
function* texts(lines: ReadonlySet<string>): Generator<string> {
  let open: string[] = [];
  let length = 0;
  for (const line of lines) {
    if (length > 0 && length + line.length > entryCharsMax) {
      yield open.join('\n');
      open = [];
      length = 0;
    }
    open.push(line);
    length += line.length + 1;
  }
  if (open.length > 0) yield open.join('\n');
}

/** Names and values in entries of some length. */
function* parts(fields: Fields): Generator<Fields> {
  let open: string[] = [];
  let length = 0;
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [name = '', value = ''] = [fields[at], fields[at + 1]];
    if (length > 0 && length + value.length > entryCharsMax) {
      yield open;
      open = [];
      length = 0;
    }
    open.push(name, value);
    length += name.length + value.length;
  }
  if (open.length > 0) yield open;
}
