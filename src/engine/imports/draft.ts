import { createHash } from 'node:crypto';
import type { ChatImportFormat, ChatImportOmissionKind } from '../../entities/conversations/chats/import.ts';
import { cutText, oneLine, storableText } from '../../lib/text/text.ts';
import { type ExportedChat, type ExportedMessage, exportLimits } from './exported-chat.ts';

type JsonObject = Readonly<Record<string, unknown>>;

/** A message or another node of the tree of a chat, in the order of the file. */
export interface DraftNode {
  readonly key: string;
  readonly parentKey: string | null;
  /** Undefined: it is left out, and what follows it follows the message before it. */
  readonly message?: {
    readonly role: 'user' | 'assistant';
    readonly text: string;
    readonly atMs: number | null;
    readonly modelName?: unknown;
    readonly isComplete?: boolean;
  };
}

/** A chat as a format tells it. */
export interface ChatDraft {
  readonly format: ChatImportFormat;
  readonly id: unknown;
  readonly name: unknown;
  readonly createdAtMs: number | null;
  readonly updatedAtMs: number | null;
  readonly nodes: readonly DraftNode[];
  /** A node on the branch that its person read last; undefined: the newest branch. */
  readonly activeKey?: string | undefined;
  readonly omissions: Omissions;
}

/** Counts what is left out, by kind. */
export class Omissions {
  readonly counts: Partial<Record<ChatImportOmissionKind, number>> = {};

  add(kind: ChatImportOmissionKind, count = 1): void {
    if (count > 0) this.counts[kind] = (this.counts[kind] ?? 0) + count;
  }
}

/** A chat that has no message, or more than may be brought. */
export type DraftRefusal = 'EMPTY_CHATS' | 'LONG_CHATS';

/** The messages of a draft as one tree, each behind the one that it follows. */
export function finishChat(draft: ChatDraft): ExportedChat | DraftRefusal {
  const { omissions } = draft;
  const placed = placeNodes(draft.nodes);
  if (placed.length === 0) return 'EMPTY_CHATS';
  if (placed.length > exportLimits.messagesMax) return 'LONG_CHATS';
  const messages: ExportedMessage[] = [];
  const active = new Set(activeLine(placed, draft.activeKey, draft.nodes));
  let length = 0;
  for (const { message, parent } of placed) {
    const { role, atMs, modelName, isComplete = true } = message;
    const whole = storableText(message.text);
    const text = cutText(whole, exportLimits.messageMaxChars);
    if (text !== whole) omissions.add('CUT_MESSAGES');
    length += text.length;
    const model =
      typeof modelName === 'string' && role === 'assistant' ? shortLine(modelName, exportLimits.modelNameMaxChars) : '';
    const isActive = active.has(messages.length);
    messages.push({ parent, isActive, role, text, atMs, modelName: model === '' ? null : model, isComplete });
  }
  if (length > exportLimits.chatMaxChars) return 'LONG_CHATS';
  const name = typeof draft.name === 'string' ? shortLine(draft.name, exportLimits.nameMaxChars) : '';
  return {
    format: draft.format,
    origin: toOrigin(draft, messages),
    name,
    createdAtMs: draft.createdAtMs,
    updatedAtMs: draft.updatedAtMs,
    messages,
    omissions: omissions.counts as Record<string, number>,
  };
}

interface PlacedNode {
  readonly key: string;
  readonly message: NonNullable<DraftNode['message']>;
  readonly parent: number | null;
}

/**
 * The messages, each behind the one that it follows and otherwise by their times. Nodes without a message are passed over, and so are those that follow
 * themselves. Cost: one sort.
 */
function placeNodes(nodes: readonly DraftNode[]): readonly PlacedNode[] {
  const byKey = new Map(nodes.map((node) => [node.key, node]));
  const children = new Map<string | null, DraftNode[]>();
  for (const node of byKey.values()) {
    const parentKey = node.parentKey !== null && byKey.has(node.parentKey) ? node.parentKey : null;
    const siblings = children.get(parentKey) ?? [];
    siblings.push(node);
    children.set(parentKey, siblings);
  }
  const found: { readonly node: DraftNode; readonly above: number | null; readonly timeMs: number }[] = [];
  const open = (children.get(null) ?? []).map((node) => ({ node, above: null as number | null, timeMs: 0 })).reverse();
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { node, above } = next;
    const timeMs = Math.max(next.timeMs, node.message?.atMs ?? 0);
    const place = node.message === undefined ? above : found.push({ node, above, timeMs }) - 1;
    for (const child of (children.get(node.key) ?? []).toReversed()) open.push({ node: child, above: place, timeMs });
  }
  const order = found
    .map((_, index) => index)
    .sort((one, other) => (found[one]?.timeMs ?? 0) - (found[other]?.timeMs ?? 0) || one - other);
  const places = new Map(order.map((index, place) => [index, place]));
  return order.flatMap((index) => {
    const entry = found[index];
    if (entry?.node.message === undefined) return [];
    const parent = entry.above === null ? null : (places.get(entry.above) ?? null);
    return [{ key: entry.node.key, message: entry.node.message, parent }];
  });
}

/** The places of the branch that goes through a node, or of the newest one, with its newest end. */
function activeLine(
  placed: readonly PlacedNode[],
  activeKey: string | undefined,
  nodes: readonly DraftNode[],
): readonly number[] {
  const places = new Map(placed.map(({ key }, place) => [key, place]));
  const parents = new Map(nodes.map(({ key, parentKey }) => [key, parentKey]));
  const seen = new Set<string>();
  let key: string | null | undefined = activeKey;
  while (typeof key === 'string' && !places.has(key) && !seen.has(key)) {
    seen.add(key);
    key = parents.get(key);
  }
  let place: number | null = (typeof key === 'string' ? places.get(key) : undefined) ?? placed.length - 1;
  const newestChild = new Map(placed.map(({ parent }, child) => [parent, child]));
  for (let below = newestChild.get(place); below !== undefined; below = newestChild.get(below)) place = below;
  const line: number[] = [];
  for (; place !== null; place = placed[place]?.parent ?? null) line.push(place);
  return line;
}

/** The id that the other product gave; of a chat without one, a hash of what was said. */
function toOrigin({ format, id }: ChatDraft, messages: readonly ExportedMessage[]): string {
  const given = typeof id === 'string' ? storableText(id).trim() : '';
  const isShort = given !== '' && given.length <= exportLimits.originMaxChars - 20;
  if (isShort) return `${format}:${given}`;
  const said = given === '' ? JSON.stringify(messages.map(({ role, text, atMs }) => [role, text, atMs])) : given;
  return `${format}:sha256-${createHash('sha256').update(said).digest('hex')}`;
}

function shortLine(text: string, lengthMax: number): string {
  return cutText(oneLine(storableText(text)), lengthMax);
}

export function asObject(value: unknown): JsonObject | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
}

export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The latest time that a database takes without a fifth digit of the year. */
const timeMaxMs = 253_402_300_799_000;

/**
 * Milliseconds since 1970 of what exports write as a time: a text, or a number of seconds, milliseconds, microseconds or nanoseconds. One product writes
 * several of them into one file.
 */
export function readTime(value: unknown): number | null {
  if (typeof value === 'string') return boundedTime(Date.parse(value));
  if (typeof value !== 'number' || !(value > 0)) return null;
  if (value < 1e11) return boundedTime(value * 1e3);
  if (value < 1e14) return boundedTime(value);
  return boundedTime(value < 1e17 ? value / 1e3 : value / 1e6);
}

function boundedTime(ms: number): number | null {
  return Number.isFinite(ms) && ms >= 0 && ms <= timeMaxMs ? Math.round(ms) : null;
}
