import pino from 'pino';
import { MaskedDeltas } from '../../src/engine/runs/output/masked-deltas.ts';
import { createGuards } from '../../src/engine/tools/secrets/guards/guards.ts';
import { createOwnPatterns } from '../../src/engine/tools/secrets/guards/own-patterns.ts';
import { GuardSession } from '../../src/engine/tools/secrets/guards/session.ts';
import { guardKinds } from '../../src/entities/agents/guard.ts';
import { readLiteral } from '../../src/lib/json/string-literal.ts';
import type { GuardStore } from '../../src/storage/agents/guards.ts';
import type { Row } from './completions.ts';

const promisedOffMicros = 1;
const promisedMicrosPerKB = 20;
const sizeBytes = 64 * 1024;
const times = 60;

const plain =
  'The quick brown fox jumps over the lazy dog, and then it runs away into the forest, where nobody sees it again for many days. ';
/** A value or a number in each sentence. */
const numbered =
  'The office opens at 9 in the morning, and closes at 17:30; call +49 30 901820 or write to first.last@example.com. Orders of 2026-11-29 are ' +
  'sent in 3 days (see section 4.2). The invoice A-12345 of 1,250.00 EUR goes to Berlin, where our people work from Monday to Friday. ';

/** Much as tokenizers of models cut: parts of words, three digits, signs. */
const token = / ?[A-Za-z]{1,5}|\d{1,3}| ?[^\sA-Za-z\d]+|\s+/g;

/** Processor time of the masks of a guard with all kinds: off, in messages, and in an answer that arrives in pieces of a token each. */
export async function benchGuards(): Promise<readonly Row[]> {
  const rows: Row[] = [await measureOff()];
  for (const [name, unit] of [
    ['plain text', plain],
    ['text with numbers', numbered],
  ] as const) {
    const text = unit.repeat(Math.ceil(sizeBytes / unit.length)).slice(0, sizeBytes);
    const pieces = (text.match(token) ?? []).map((piece) => JSON.stringify(piece));
    const note = `${Math.round(pieces.length / (sizeBytes / 1024))} pieces a KB`;
    rows.push(
      rowOf(`guard, ${name} : promised`, () => newSession().mask(text)),
      rowOf(`guard, ${name} in tokens : promised`, () => mask(pieces), note),
      rowOf(`guard, ${name} in tokens, values put back : promised`, () => putBack(newSession(), text, pieces), note),
      rowOf(`guard with own patterns, ${name} : promised`, () => newSession(own).mask(text)),
      rowOf(`guard with own patterns, ${name} in tokens : promised`, () => mask(pieces, own), note),
    );
  }
  return rows;
}

const toOwn = createOwnPatterns();
/** As organizations write them; the first stands in each sentence with numbers. */
const own = [
  { name: 'INVOICE', pattern: 'A-[0-9]{5}', lengthMax: 7 },
  { name: 'CASE', pattern: '\\b[A-Z]{2,4}-\\d{3,6}\\b', lengthMax: 11 },
  { name: 'EMPLOYEE', pattern: '(?i:employee|staff) (?:no|number)\\.? ?\\d{4,8}', lengthMax: 30 },
  { name: 'HOST', pattern: '[a-z0-9-]+\\.internal\\.example', lengthMax: 80 },
  { name: 'PROJECT', pattern: 'Project (?:Falcon|Osprey|Kestrel)', lengthMax: 15 },
].map(toOwn);

function newSession(patterns: typeof own = []): GuardSession {
  return new GuardSession({ kinds: guardKinds, patterns, putsBack: false, modelId: null }, () => undefined);
}

function mask(pieces: readonly string[], patterns: typeof own = []): void {
  const deltas = new MaskedDeltas(newSession(patterns).outMask());
  for (const piece of pieces) deltas.feed('text', piece);
  deltas.end();
}

/** Of the stream alone: values were masked in the messages before. */
function putBack(session: GuardSession, text: string, pieces: readonly string[]): void {
  session.mask(text.slice(0, 1_024));
  const stream = session.restoring(false);
  for (const piece of pieces) stream.feed(readLiteral(piece));
  stream.flush();
}

/** What it takes to know that nothing is masked. */
async function measureOff(): Promise<Row> {
  const store = { find: () => undefined } as unknown as GuardStore;
  const guards = createGuards(store, pino({ level: 'silent' }), () => new Date(0));
  const runs = 100_000;
  const micros = median(() => {
    for (let index = 0; index < runs; index += 1) guards.find({ orgId: 'org', agentId: 'ai' });
  });
  await guards.close();
  return {
    name: 'guard off, a run : promised',
    raw: promisedOffMicros,
    ours: micros / runs,
    unit: 'µs',
    floor: { ratioMax: 1 },
  };
}

function rowOf(name: string, work: () => void, note?: string): Row {
  const ours = median(work) / (sizeBytes / 1024);
  return {
    name,
    raw: promisedMicrosPerKB,
    ours,
    unit: 'µs a KB',
    floor: { ratioMax: 1 },
    ...(note === undefined ? {} : { note }),
  };
}

/** Processor time in microseconds. */
function median(work: () => void): number {
  const measured: number[] = [];
  for (let index = 0; index < 2 * times; index += 1) {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    if (index >= times) measured.push(user + system);
  }
  return measured.toSorted((left, right) => left - right)[times / 2] ?? 0;
}

if (import.meta.main) {
  for (const { name, raw, ours, unit, note } of await benchGuards())
    console.log(`${name}\t${raw} ${unit}\t${ours.toFixed(2)} ${unit}\t${note ?? ''}`);
  process.exit(0);
}
