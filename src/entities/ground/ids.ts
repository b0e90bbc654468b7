import { randomFillSync } from 'node:crypto';

/** Every kind of id. The prefix tells a reader what an id names; callers treat the whole as opaque. */
export const idPrefixes = {
  agent: 'ai',
  chat: 'chat',
  message: 'msg',
  feedback: 'fbk',
  chatShare: 'shr',
  chatFile: 'file',
  chatImport: 'cimp',
  agentTool: 'tool',
  agentUserInput: 'uin',
  agentSkill: 'skill',
  agentFlow: 'flow',
  agentSecret: 'sec',
  dataSource: 'ds',
  sourceRun: 'srun',
  knowledgeItem: 'ki',
  group: 'grp',
  apiKey: 'key',
  session: 'ses',
  webhook: 'whk',
  webhookDelivery: 'whd',
  signInLink: 'sil',
  identity: 'idn',
  invitation: 'inv',
  passkey: 'pky',
  organization: 'org',
  tenant: 'ten',
  user: 'user',
  membership: 'mem',
  memory: 'memo',
  project: 'proj',
  prompt: 'prm',
  dataset: 'dset',
  datasetCase: 'case',
  experiment: 'exper',
  run: 'run',
  response: 'resp',
  runFilter: 'rflt',
  schedule: 'sched',
  scheduleRun: 'schrun',
  agentCategory: 'cat',
  oauthToken: 'oat',
  oauthClient: 'oac',
  repoHostInstallation: 'rhi',
  mcpServer: 'mcp',
  mcpOauthClient: 'moc',
  upload: 'upl',
  fileUpload: 'upload',
  uploadPart: 'part',
  vectorStore: 'vs',
  vectorStoreFile: 'vsf',
  vectorStoreFileBatch: 'vsfb',
  usageEntry: 'use',
  budget: 'bud',
  savedDocument: 'doc',
  auditEntry: 'aud',
  auditBatch: 'audb',
  searchIndex: 'six',
  legalHold: 'hold',
  dataExport: 'exp',
  erasure: 'era',
  toolCall: 'call',
  serverToolCall: 'stc',
  serverToolOutput: 'sto',
  functionCall: 'fc',
  mcpList: 'mcpl',
  mcpCall: 'mcpc',
  mcpApproval: 'mcpr',
  webSearchCall: 'ws',
  fileSearchCall: 'fs',
  reasoning: 'rs',
  completion: 'chatcmpl',
  compaction: 'cmp',
  input: 'in',
  subagent: 'sub',
  request: 'req',
} as const;
export type IdKind = keyof typeof idPrefixes;

/** The start of an id. Ids of completions have a hyphen after their prefix, on every API. */
const idHeads = Object.fromEntries(
  Object.entries(idPrefixes).map(([kind, prefix]) => [kind, kind === 'completion' ? `${prefix}-` : `${prefix}_`]),
) as Readonly<Record<IdKind, string>>;

/** Crockford base 32 in lower case, as in the TypeID specification: no i, l, o or u. */
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
const suffixLength = 26;

const pool = Buffer.allocUnsafe(10 * 256);
let poolOffset = pool.length;

/** Where ten fresh random bytes begin in the pool: one system call for 256 ids. */
function takeTen(): number {
  if (poolOffset >= pool.length) {
    randomFillSync(pool);
    poolOffset = 0;
  }
  poolOffset += 10;
  return poolOffset - 10;
}

/**
 * Makes a TypeID: the prefix, `_` (of a completion `-`), and a UUIDv7 in 26 base-32 characters, so ids of one kind sort by time, and those that this
 * process makes in one millisecond in the order in which it makes them.
 *
 * @param nowMs  milliseconds since the epoch; the time part of the UUID.
 */
export function makeId(kind: IdKind, nowMs: number): string {
  const at = takeTen();
  if (nowMs === timeMs) place += 1;
  else {
    timeMs = nowMs;
    timeText = timePart(nowMs);
    place = pool.readUInt32BE(at) & placeStartMax;
  }
  // UUIDv7: 48 bits of time, version 7, the high 12 bits of the place, variant 10, its low 14 bits, 48 random bits.
  const version = 0x7000 | (place >>> 14);
  const variant = 0x8000 | (place & 0x3fff);
  const first = version * 0x10 + (variant >>> 12);
  const second = ((variant & 0x0fff) << 8) | pool.readUInt8(at + 4);
  const third = pool.readUIntBE(at + 5, 3) & 0xfffff;
  const fourth = (pool.readUIntBE(at + 7, 3) & 0xfffff) >>> 0;
  return `${idHeads[kind]}${timeText}${four(first)}${four(second)}${four(third)}${four(fourth)}`;
}

/** Whether the text is a well-formed id of that kind. A malformed id is answered like a missing one. */
export function isId(kind: IdKind, value: string): boolean {
  const head = idHeads[kind];
  return value.startsWith(head) && /^[0-7][0-9a-hjkmnp-tv-z]{25}$/.test(value.slice(head.length));
}

/** The kind of a well-formed id, or undefined. */
export function kindOfId(value: string): IdKind | undefined {
  const head = value.slice(0, Math.max(0, value.length - suffixLength));
  const kind = (Object.keys(idHeads) as IdKind[]).find((candidate) => idHeads[candidate] === head);
  return kind !== undefined && isId(kind, value) ? kind : undefined;
}

/**
 * The id of the same thing as a thing of another kind: a vector store is a data source, and its files are knowledge items. Two types of the graph never
 * share an id.
 */
export function idAs(kind: IdKind, id: string): string {
  return `${idHeads[kind]}${id.slice(-suffixLength)}`;
}

/** The chat id of a stateless completion, which has no chat: as unique as the completion's id. */
export function statelessChatId(completionId: string): string {
  return `stateless_${completionId.slice(-suffixLength)}`;
}

/** When an id was made, to the millisecond: its first ten characters are the 48 bits of time. */
export function timeOfId(id: string): Date {
  let ms = 0;
  for (const character of id.slice(-suffixLength, 10 - suffixLength)) ms = ms * 32 + alphabet.indexOf(character);
  return new Date(ms);
}

/** Sorts before every id of this kind that is made at this moment or later, and behind every earlier one. */
export function lowerBoundOfIds(kind: IdKind, at: Date): string {
  return `${idHeads[kind]}${timePart(Math.max(0, at.getTime()))}`;
}

/** The moment of `lowerBoundOfIds`. */
export function timeOfIdStart(start: string): Date {
  return timeOfId(start.padEnd(start.length + suffixLength - 10, '0'));
}

/** The time part of the last id, and its place among those of that millisecond: 26 bits, which begin at random in their lower half. */
let timeMs = -1;
let timeText = '';
let place = 0;
const placeStartMax = 2 ** 25 - 1;

/** Two characters for ten bits. */
const pairs = Array.from({ length: 1_024 }, (_, bits) => (alphabet[bits >>> 5] ?? '') + (alphabet[bits & 31] ?? ''));

/** Four characters for twenty bits. */
function four(bits: number): string {
  return (pairs[bits >>> 10] ?? '') + (pairs[bits & 1_023] ?? '');
}

/** Ten characters for 48 bits. */
function timePart(ms: number): string {
  const high = Math.floor(ms / 2 ** 40);
  const middle = Math.floor(ms / 2 ** 20) % 2 ** 20;
  return (pairs[high] ?? '') + four(middle) + four(ms % 2 ** 20);
}
