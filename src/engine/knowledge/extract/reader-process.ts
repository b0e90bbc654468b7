import type { ChildProcess } from 'node:child_process';
import { type FileHandle, open } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { setPriority } from 'node:os';
import { dirname, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseOmissions } from '../../../entities/knowledge/omission.ts';
import { type TimeoutCause, wallTimesMax, watchProcessTime } from '../../processes/process-time.ts';
import { killTied, spawnTied } from '../../processes/tied-process.ts';
import {
  type Answer,
  type Block,
  blockKinds,
  type DocumentSource,
  type ExtractedDocument,
  type ExtractLimits,
  type Question,
} from './document.ts';
import { ExtractError, extractErrorCodes } from './error.ts';
import { blockWidth, memorySignal, type ReaderMessage, type ReadRequest } from './protocol.ts';

const startTimeoutMs = 15_000;
const mebibyte = 1024 * 1024;
const partBytes = 256 * 1024;
const smallBytesMax = 16 * 1024;

/** The process ended by itself without a result: try again once in a new process, the document may not be the cause. */
export class ReaderLostError extends Error {
  override readonly name = 'ReaderLostError';
  /** Whether the process had begun to read: then the document may be the cause. */
  readonly isOfDocument: boolean;

  constructor(message: string, isOfDocument: boolean) {
    super(message);
    this.isOfDocument = isOfDocument;
  }
}

/** What a process is given, and how its messages become a result. */
export interface Reading<T> {
  readonly content: { readonly path: string } | { readonly bytes: Uint8Array };
  readonly request: Pick<ReadRequest, 'filename' | 'mimeType' | 'question'>;
  /** @returns the result at its last message. @throws what the process says, and ReaderLostError for messages that do not fit. */
  gather(limits: ExtractLimits): (message: ReaderMessage) => T | undefined;
}

/** The text of a document. */
export function documentReading({ path, filename, mimeType }: DocumentSource): Reading<ExtractedDocument> {
  return { content: { path }, request: { filename, mimeType }, gather: ({ textMaxChars }) => gatherDocument(textMaxChars) };
}

/** The answer to a question. */
export function questionReading({ content, question }: Question): Reading<Answer> {
  return {
    content,
    request: { filename: '', mimeType: '', question },
    gather: ({ textMaxChars }) => gatherAnswer(textMaxChars),
  };
}

/** A child process that reads one document at a time. After any failure it has ended, and a new one is needed. */
export interface ReaderProcess {
  /** Documents that it was given, by their size: libraries leave more of large ones in its memory. */
  readonly documents: { readonly small: number; readonly large: number };
  readonly isAlive: boolean;
  /** @throws ExtractError, ReaderLostError, or the signal's reason. */
  read<T>(reading: Reading<T>, limits: ExtractLimits, signal: AbortSignal): Promise<T>;
  kill(): void;
}

/** Starts a process with an empty environment that may read its own code only. @param niceness  0 to 19, as in the operating system. */
export function startReader(entry: URL, memoryMaxBytes: number, niceness: number): ReaderProcess {
  const args = [
    '--permission',
    '--allow-worker',
    ...readablePaths(entry).map((path) => `--allow-fs-read=${path}`),
    '--disallow-code-generation-from-strings',
    '--no-warnings',
    `--max-old-space-size=${Math.max(32, Math.floor(memoryMaxBytes / mebibyte))}`,
    ...[fileURLToPath(entry), String(memoryMaxBytes), String(process.pid)],
  ];
  const cwd = dirname(fileURLToPath(entry));
  const child = spawnTied(process.execPath, args, { env: {}, cwd, stdio: ['pipe', 'ignore', 'ignore'], hasChannel: true });
  if (niceness > 0) putBehind(child, niceness);
  // A reader does not keep this process running, and errors of its streams after its end are ignored.
  child.unref();
  child.channel?.unref();
  child.stdin?.on('error', () => undefined);
  (child.stdin as { unref?(): void } | null)?.unref?.();
  let isAlive = true;
  const documents = { small: 0, large: 0 };
  const kill = () => {
    isAlive = false;
    killTied(child);
  };
  child.once('exit', () => {
    isAlive = false;
  });
  child.on('error', kill);
  const ready = untilReady(child);
  ready.catch(kill);

  return {
    documents,
    get isAlive() {
      return isAlive;
    },
    kill,
    async read(reading, limits, signal) {
      const noteSize = (sizeBytes: number) => {
        documents[sizeBytes <= smallBytesMax ? 'small' : 'large'] += 1;
      };
      try {
        await orAbort(ready, signal);
        return await exchange(child, reading, limits, signal, noteSize);
      } catch (error) {
        kill();
        throw error;
      }
    },
  };
}

function putBehind({ pid }: ChildProcess, niceness: number): void {
  try {
    if (pid !== undefined) setPriority(pid, niceness);
  } catch {
    // The process has ended, or the system does not allow it: it keeps the normal priority.
  }
}

/** The child's code: its folder, the helpers in `lib`, the packages (also where `node_modules` is a link), and the package file that makes it a module. */
function readablePaths(entry: URL): string[] {
  const here = dirname(fileURLToPath(import.meta.url));
  const parserPath = createRequire(import.meta.url).resolve('csv-parse');
  const packages = parserPath.slice(0, parserPath.lastIndexOf(`${sep}node_modules${sep}`));
  const roots = new Set([packages, fileURLToPath(new URL('../../../..', import.meta.url)).replace(/[\\/]$/, '')]);
  const sharedPaths = [...roots].flatMap((root) => [`${root}/node_modules/*`, `${root}/package.json`]);
  const lib = fileURLToPath(new URL('../../../lib/*', import.meta.url));
  return [`${here}/*`, lib, `${dirname(fileURLToPath(entry))}/*`, ...sharedPaths];
}

function untilReady(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => settle(new ReaderLostError('not ready in time', false)), startTimeoutMs);
    const settle = (error?: Error) => {
      clearTimeout(timer);
      child.off('exit', onLoss).off('error', onLoss).off('message', onReady);
      if (error === undefined) resolve();
      else reject(error);
    };
    const onLoss = () => settle(new ReaderLostError('ended before it was ready', false));
    const onReady = () => settle();
    child.once('exit', onLoss).once('error', onLoss).once('message', onReady);
  });
}

/** Sends one document and collects the answer. The child's messages are validated: it has parsed untrusted bytes. */
async function exchange<T>(
  child: ChildProcess,
  reading: Reading<T>,
  limits: ExtractLimits,
  signal: AbortSignal,
  noteSize: (sizeBytes: number) => void,
): Promise<T> {
  const { content, request } = reading;
  const file = 'path' in content ? await open(content.path, 'r') : undefined;
  const completion = Promise.withResolvers<T>();
  const gatherMessage = reading.gather(limits);
  const onMessage = (message: unknown) => {
    try {
      const result = gatherMessage(message as ReaderMessage);
      if (result !== undefined) completion.resolve(result);
    } catch (error) {
      completion.reject(error);
    }
  };
  const onExit = (_code: number | null, exitSignal: NodeJS.Signals | null) => completion.reject(lossReason(exitSignal, limits));
  const onAbort = () => completion.reject(signal.reason);
  const stopWatching = watchProcessTime(child.pid, limits.timeoutMs, (cause) => completion.reject(timeoutError(cause, limits)));
  child.on('message', onMessage).on('exit', onExit);
  signal.addEventListener('abort', onAbort);
  try {
    signal.throwIfAborted();
    const sizeBytes = 'bytes' in content ? content.bytes.byteLength : await measureSize(file);
    requireReadable(sizeBytes, limits);
    noteSize(sizeBytes);
    const whole: ReadRequest = { type: 'read', ...request, sizeBytes, textMaxChars: limits.textMaxChars };
    child.send(whole, () => undefined);
    sendBytes('bytes' in content ? splitSlices(content.bytes) : streamParts(file, sizeBytes), sizeBytes, child).catch(
      completion.reject,
    );
    return await completion.promise;
  } finally {
    stopWatching();
    child.off('message', onMessage).off('exit', onExit);
    signal.removeEventListener('abort', onAbort);
    // Avoids an unhandled rejection when the other branch has thrown.
    completion.promise.catch(() => undefined);
    await file?.close().catch(() => undefined);
  }
}

async function measureSize(file: FileHandle | undefined): Promise<number> {
  const stat = await file?.stat();
  if (stat?.isFile() !== true) throw new ExtractError('CORRUPT', 'This is not a file.');
  return stat.size;
}

function requireReadable(sizeBytes: number, { memoryMaxBytes }: ExtractLimits): void {
  if (sizeBytes <= memoryMaxBytes / 2) return;
  const mebibytes = Math.floor(memoryMaxBytes / 2 / mebibyte);
  throw new ExtractError(
    'TOO_LARGE',
    `The file is larger than the ${mebibytes} MiB that can be read; split it into smaller ones.`,
  );
}

function streamParts(file: FileHandle | undefined, sizeBytes: number): Iterable<Uint8Array> | AsyncIterable<Uint8Array> {
  if (file === undefined || sizeBytes === 0) return [];
  return file.createReadStream({ end: sizeBytes - 1, autoClose: false, highWaterMark: partBytes });
}

function* splitSlices(bytes: Uint8Array): Generator<Uint8Array> {
  for (let start = 0; start < bytes.byteLength; start += partBytes) yield bytes.subarray(start, start + partBytes);
}

async function sendBytes(
  parts: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  sizeBytes: number,
  child: ChildProcess,
): Promise<void> {
  const { stdin } = child;
  if (stdin === null) return;
  let sentBytes = 0;
  for await (const part of parts) {
    sentBytes += part.length;
    if (!stdin.write(part)) await new Promise<void>((resolve) => whenWritable(child, resolve));
    if (!stdin.writable) return;
  }
  if (sentBytes < sizeBytes) throw new ExtractError('CORRUPT', 'The file became shorter while it was read; try again.');
}

function whenWritable(child: ChildProcess, resolve: () => void): void {
  const onDone = () => {
    child.stdin?.off('drain', onDone).off('close', onDone);
    resolve();
  };
  child.stdin?.on('drain', onDone).on('close', onDone);
}

function gatherDocument(textMaxChars: number): (message: ReaderMessage) => ExtractedDocument | undefined {
  const pieces: string[] = [];
  const blocks: Block[] = [];
  let length = 0;
  return (message) => {
    switch (message.type) {
      case 'text':
        length += message.piece.length;
        if (length > textMaxChars) throw new ReaderLostError('sent more text than it may', true);
        pieces.push(message.piece);
        return undefined;
      case 'blocks':
        addBlocks(blocks, message.values, length);
        return undefined;
      case 'done': {
        const { title, mimeType, pageCount, firstLine } = message;
        const omissions = parseOmissions(message.omissions);
        if (omissions === undefined) throw new ReaderLostError('sent omissions of an unknown kind', true);
        return { title, mimeType, text: pieces.join(''), blocks, pageCount, firstLine, omissions };
      }
      case 'failed':
        throw toFailure(message);
      default:
        return undefined;
    }
  };
}

function gatherAnswer(textMaxChars: number): (message: ReaderMessage) => Answer | undefined {
  const pieces: string[] = [];
  const lists = new Map<string, string[]>();
  let length = 0;
  const count = (text: string) => {
    length += text.length + 1;
    if (length > textMaxChars) throw new ReaderLostError('sent more text than it may', true);
  };
  return (message) => {
    switch (message.type) {
      case 'text':
        count(message.piece);
        pieces.push(message.piece);
        return undefined;
      case 'list':
        lists.set(message.name, lists.get(message.name) ?? []);
        for (const value of message.values) {
          count(value);
          lists.get(message.name)?.push(String(value));
        }
        return undefined;
      case 'answered':
        return { text: pieces.join(''), lists: Object.fromEntries(lists), value: message.value };
      case 'failed':
        throw toFailure(message);
      default:
        return undefined;
    }
  };
}

function toFailure({ code, message }: Extract<ReaderMessage, { type: 'failed' }>): Error {
  if (!extractErrorCodes.includes(code)) return new ReaderLostError('sent an unknown failure', true);
  return new ExtractError(code, String(message));
}

function addBlocks(blocks: Block[], values: readonly number[], length: number): void {
  for (let index = 0; index < values.length; index += blockWidth) {
    const [kindIndex = -1, level = 0, charStart = -1, charEnd = -1, page = 0] = values.slice(index, index + blockWidth);
    const kind = blockKinds[kindIndex];
    const previous = blocks.at(-1)?.charEnd ?? 0;
    if (kind === undefined || charStart < previous || charEnd <= charStart || charEnd > length) {
      throw new ReaderLostError('sent blocks that do not fit the text', true);
    }
    blocks.push({ kind, level: level === 0 ? null : level, charStart, charEnd, page: page === 0 ? null : page });
  }
}

function lossReason(exitSignal: NodeJS.Signals | null, limits: ExtractLimits): Error {
  // V8 ends a process with a full heap by SIGABRT, on some machines by SIGTRAP.
  if (exitSignal === memorySignal || exitSignal === 'SIGABRT' || exitSignal === 'SIGTRAP') {
    const mebibytes = Math.floor(limits.memoryMaxBytes / mebibyte);
    return new ExtractError(
      'MEMORY',
      `Reading the file took more than ${mebibytes} MiB of memory; split it into smaller ones, or save it in another format.`,
    );
  }
  return new ReaderLostError(`ended by ${exitSignal ?? 'itself'}`, true);
}

function timeoutError(cause: TimeoutCause, { timeoutMs }: ExtractLimits): ExtractError {
  const wallSeconds = (wallTimesMax * timeoutMs) / 1000;
  if (cause === 'STARVED')
    return new ExtractError(
      'UNAVAILABLE',
      `The machine was too busy to read the file in ${wallSeconds} seconds; try again later.`,
    );
  const reason =
    cause === 'USED'
      ? `took more than ${timeoutMs / 1000} seconds of processor time`
      : `came to no end in ${wallSeconds} seconds`;
  return new ExtractError('TIMEOUT', `Reading the file ${reason}; split it into smaller ones, or save it in another format.`);
}

function orAbort(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
