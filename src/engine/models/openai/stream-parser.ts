import { StringDecoder } from 'node:string_decoder';
import { type JsonObject, membersOf, readElements } from '../../../lib/json/json.ts';
import type { ModelDelta } from '../port.ts';
import { ChunkReader, type PlainKind } from './chunk-reader.ts';
import { malformed, refusalInStream } from './errors.ts';

/** The constant text around the one string literal of a chunk, from the start of its event to the start of the next. */
interface Shape {
  readonly prefix: string;
  readonly suffix: string;
  /** The text between the literals of two such chunks: suffix and prefix. */
  readonly between: string;
  readonly kind: PlainKind;
}

const lineCharactersMax = 4 * 1024 * 1024;
/** New shapes are learned this often without a hit; then only while the last one had hits. */
const vainLessonsMax = 8;
const usefulHits = 4;
/** The first chunks (often a role and the first words) are not used for learning: that would delay the first token. */
const chunksBeforeLearning = 2;
const probe = '\u0001probe';

/**
 * Parses the event stream of the OpenAI-compatible wire, however reads cut it.
 *
 * Most chunks of a stream differ in one string literal only. The parser learns the text around the literal from one fully parsed chunk. While the
 * next events begin and end the same way, it takes their literals as they are, without JSON.parse or decoding. It parses all other events in full.
 */
export class StreamParser {
  readonly #decoder = new StringDecoder('utf8');
  readonly #reader = new ChunkReader();
  /** The rest of earlier reads: a line without its end. */
  #rest = '';
  #isFirst = true;
  #shape: Shape | undefined;
  #isDense = true;
  #hits = 0;
  #vainLessons = 0;
  #plainChunks = 0;
  #data: string | undefined;
  #dataLine = '';
  #lines = 0;
  #eventName = '';
  #hasDone = false;

  /** Whether `[DONE]` came: everything after it is ignored. */
  get isDone(): boolean {
    return this.#hasDone;
  }

  get hasFinish(): boolean {
    return this.#reader.hasFinish;
  }

  /** Adds the deltas of one read to `out`. @throws ModelError; the deltas before the fault are in `out`. */
  push(bytes: Buffer, out: ModelDelta[]): void {
    if (this.#hasDone) return;
    let fresh = this.#decoder.write(bytes);
    if (this.#isFirst && fresh !== '') {
      this.#isFirst = false;
      if (fresh.charCodeAt(0) === 0xfeff) fresh = fresh.slice(1);
    }
    if (this.#rest === '') this.#read(fresh, 0, out);
    else this.#readOn(fresh, out);
  }

  /** Called at the end of the reply. @throws ModelError when the answer is incomplete. */
  end(out: ModelDelta[]): void {
    if (!this.#hasDone) {
      // A last event without its blank line counts too.
      this.#read(`${this.#rest}${this.#decoder.end()}\n\n`, 0, out);
    }
    this.#reader.end(out);
  }

  /** Joins the rest of earlier reads with the lines that complete it, not with the whole read: a join copies both. */
  #readOn(fresh: string, out: ModelDelta[]): void {
    const end = endOfLines(fresh);
    if (end === 0) {
      this.#keep(this.#rest + fresh);
      return;
    }
    this.#read(this.#rest + fresh.slice(0, end), 0, out);
    if (!this.#hasDone && end < fresh.length) this.#read(fresh, end, out);
  }

  #read(text: string, start: number, out: ModelDelta[]): void {
    let at = start;
    this.#isDense = true;
    this.#rest = '';
    while (!this.#hasDone) {
      if (this.#lines === 0) at = this.#takePlain(text, at, out);
      const newline = text.indexOf('\n', at);
      if (newline < 0) break;
      const isCrlf = newline > at && text.charCodeAt(newline - 1) === 13;
      this.#takeLine(text.slice(at, isCrlf ? newline - 1 : newline), isCrlf ? '\r\n' : '\n', out);
      at = newline + 1;
    }
    if (this.#hasDone) return;
    this.#keep(at === 0 ? text : text.slice(at));
  }

  #keep(rest: string): void {
    this.#rest = rest;
    if (rest.length > lineCharactersMax) throw malformed('a line is too long');
  }

  /** Takes events of the learned shape from `at` on. @returns where they end. */
  #takePlain(text: string, start: number, out: ModelDelta[]): number {
    const shape = this.#shape;
    if (shape === undefined || !text.startsWith(shape.prefix, start)) return start;
    const { prefix, suffix } = shape;
    let at = start;
    if (this.#isDense && text.length - at > 4 * shape.between.length) {
      // One native search for the text between two literals finds all events, several times faster than comparing one by one.
      const pieces = text.slice(at + prefix.length).split(shape.between);
      let plainCount = 0;
      for (; plainCount < pieces.length - 1; plainCount += 1) {
        const piece = pieces[plainCount] ?? '';
        if (literalEnd(piece, 0) !== piece.length) break;
        this.#takeLiteral(piece, shape.kind, out);
        at += piece.length + shape.between.length;
      }
      // Short runs are not worth another search of the same text.
      this.#isDense = plainCount > 3;
    }
    while (text.startsWith(prefix, at)) {
      const from = at + prefix.length;
      const end = literalEnd(text, from);
      if (end < 0 || !text.startsWith(suffix, end)) break;
      this.#takeLiteral(text.slice(from, end), shape.kind, out);
      at = end + suffix.length;
    }
    return at;
  }

  #takeLiteral(json: string, kind: PlainKind, out: ModelDelta[]): void {
    this.#hits += 1;
    if (json.length === 2) return;
    if (kind === 'content') out.push({ type: 'text', json });
    else if (kind === 'arguments') {
      this.#reader.addArguments(json);
      out.push({ type: 'tool.arguments', index: this.#reader.currentCall, json });
    } else out.push({ type: 'reasoning', json });
  }

  #takeLine(line: string, lineEnd: string, out: ModelDelta[]): void {
    if (line === '') {
      if (this.#data !== undefined) this.#dispatch(this.#data, lineEnd, out);
      this.#data = undefined;
      this.#lines = 0;
      this.#eventName = '';
      return;
    }
    if (line.startsWith('data:')) {
      const data = line.slice(line.charCodeAt(5) === 32 ? 6 : 5);
      this.#data = this.#data === undefined ? data : `${this.#data}\n${data}`;
      this.#dataLine = line;
      if (this.#data.length > lineCharactersMax) throw malformed('an event is too long');
    } else if (line.startsWith('event:')) this.#eventName = line.slice(6).trim();
    this.#lines += 1;
  }

  #dispatch(data: string, lineEnd: string, out: ModelDelta[]): void {
    const trimmedData = data.trim();
    if (trimmedData === '') return;
    if (trimmedData === '[DONE]') {
      this.#hasDone = true;
      return;
    }
    let chunk: unknown;
    try {
      chunk = JSON.parse(data);
    } catch {
      throw malformed('an event is not JSON');
    }
    if (this.#eventName === 'error') throw refusalInStream(membersOf(chunk).error ?? chunk);
    const before = out.length;
    const kind = this.#reader.read(membersOf(chunk), out);
    // After a new call, arguments belong to another call.
    if (out.slice(before).some((delta) => delta.type === 'tool.start')) this.#shape = undefined;
    if (kind === undefined || this.#lines !== 1) return;
    if (this.#plainChunks >= chunksBeforeLearning) this.#learn(membersOf(chunk), kind, lineEnd);
    else this.#plainChunks += 1;
  }

  #learn(chunk: JsonObject, kind: PlainKind, lineEnd: string): void {
    if (this.#hits < usefulHits) {
      if (this.#vainLessons >= vainLessonsMax) return;
      this.#vainLessons += 1;
    } else this.#vainLessons = 0;
    this.#hits = 0;
    this.#shape = findShape(this.#dataLine, chunk, kind, lineEnd);
  }
}

/** The index after the first line end of a text and all that directly follow it (an event ends with two); 0 when it has none. */
function endOfLines(text: string): number {
  let end = 0;
  for (let at = text.indexOf('\n'); at >= 0; ) {
    end = at + 1;
    at = text.charCodeAt(end) === 13 ? end + 1 : end;
    if (text.charCodeAt(at) !== 10) break;
  }
  return end;
}

/** Finds the literal of a chunk's text in its line, and checks that nothing else depends on it. */
function findShape(line: string, chunk: JsonObject, kind: PlainKind, lineEnd: string): Shape | undefined {
  const value = plainText(chunk, kind);
  const member = `"${kind}":`;
  for (let at = line.indexOf(member); at >= 0; at = line.indexOf(member, at + 1)) {
    let from = at + member.length;
    while (line.charCodeAt(from) === 32) from += 1;
    const end = literalEnd(line, from);
    if (end < 0 || JSON.parse(line.slice(from, end)) !== value) continue;
    const prefix = line.slice(0, from);
    const suffix = line.slice(end);
    try {
      const other: unknown = JSON.parse(`${prefix}${JSON.stringify(probe)}${suffix}`.slice('data:'.length));
      const isSame = JSON.stringify(other).replace(JSON.stringify(probe), () => JSON.stringify(value)) === JSON.stringify(chunk);
      if (!isSame || plainText(membersOf(other), kind) !== probe) continue;
      const between = ownCopy(suffix + lineEnd + lineEnd + prefix);
      const ending = between.slice(0, -prefix.length);
      return { prefix: between.slice(ending.length), suffix: ending, between, kind };
    } catch {
      // Another literal than the one meant.
    }
  }
  return undefined;
}

/** A slice keeps the whole text that it was cut from, here a read, for as long as the stream lasts. */
function ownCopy(text: string): string {
  return Buffer.from(text).toString();
}

function plainText(chunk: JsonObject, kind: PlainKind): unknown {
  const delta = membersOf(membersOf(readElements(chunk.choices)[0]).delta);
  return kind === 'arguments' ? membersOf(membersOf(readElements(delta.tool_calls)[0]).function).arguments : delta[kind];
}

/**
 * The index after the closing quote of the JSON string literal that begins at `from`; -1 when it has no end in this read. Written
 * by hand: literals are a few characters long, and this runs once for each chunk.
 */
function literalEnd(text: string, from: number): number {
  if (text.charCodeAt(from) !== 34) return -1;
  let at = from + 1;
  for (;;) {
    const code = text.charCodeAt(at);
    if (code === 34) return at + 1;
    if (code === 92) {
      const escapeCode = text.charCodeAt(at + 1);
      if (escapeCode === 117) {
        if (!/^[0-9a-fA-F]{4}$/.test(text.slice(at + 2, at + 6))) return -1;
        at += 6;
      } else if (isEscape(escapeCode)) at += 2;
      else return -1;
      // NaN, past the end, is not >= 32 either.
    } else if (code >= 32) at += 1;
    else return -1;
  }
}

/** `"` `\` `/` and b f n r t. */
function isEscape(code: number): boolean {
  return code === 34 || code === 92 || code === 47 || code === 98 || code === 102 || code === 110 || code === 114 || code === 116;
}
