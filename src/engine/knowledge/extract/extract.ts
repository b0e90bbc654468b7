import { setTimeout as delay } from 'node:timers/promises';
import type { Answer, DocumentSource, ExtractedDocument, ExtractLimits, Question } from './document.ts';
import { ExtractError } from './error.ts';
import {
  documentReading,
  questionReading,
  ReaderLostError,
  type ReaderProcess,
  type Reading,
  startReader,
} from './reader-process.ts';

export type { DocumentSource, ExtractedDocument, ExtractLimits } from './document.ts';
export { ExtractError } from './error.ts';

export interface Extractor {
  /**
   * Extracts the text of one document in a separate process, which is killed when it exceeds its time or memory. Each concurrent call uses a
   * process: the caller limits their number. This process parses nothing, so it stays up and responsive whatever the bytes are.
   *
   * @param source  the file is opened here and its bytes are sent: the reader process can open no file.
   * @throws ExtractError for every document that gives no text, with a sentence for the person who added it.
   * @throws the signal's reason as soon as it fires; the process is killed.
   *
   * Cost: 0.1 s for a new process, 1 to 10 ms for a small document in a running one.
   */
  extract(source: DocumentSource, limits: ExtractLimits, signal: AbortSignal): Promise<ExtractedDocument>;
  /** The same for a question about bytes, which the program of the process (`entry`) answers. */
  ask(question: Question, limits: ExtractLimits, signal: AbortSignal): Promise<Answer>;
  /** Kills every process; running calls fail as aborted. */
  close(): Promise<void>;
}

export interface ExtractorOptions {
  /** A process is replaced after this many documents, because libraries leak memory. */
  readonly documentsPerProcess?: number;
  /** The same for documents of at most 16 KiB: a thousand PDF files of that size left 80 MB, texts nothing. */
  readonly smallDocumentsPerProcess?: number;
  /** Scheduling priority of the processes, 0 to 19 (lowest): a hostile document must not slow the service down. */
  readonly niceness?: number;
  /** An idle process ends after this time. */
  readonly idleMs?: number;
  /** Another program for the process; tests use it to simulate failures. */
  readonly entry?: URL;
}

/** Makes the pool of reader processes. The first document starts the first process. */
export function createExtractor(options: ExtractorOptions = {}): Extractor {
  const { documentsPerProcess = 100, smallDocumentsPerProcess = 1_000, idleMs = 30_000, niceness = 0 } = options;
  const entry = options.entry ?? new URL('./child.ts', import.meta.url);
  const closing = new AbortController();
  const idle: IdleReader[] = [];
  let active = 0;

  const takeReader = (memoryMaxBytes: number): ReaderProcess => {
    for (let next = idle.pop(); next !== undefined; next = idle.pop()) {
      clearTimeout(next.timer);
      if (next.reader.isAlive && next.memoryMaxBytes === memoryMaxBytes) return next.reader;
      next.reader.kill();
    }
    return startReader(entry, memoryMaxBytes, niceness);
  };
  const keepReader = (reader: ReaderProcess, memoryMaxBytes: number): void => {
    const { small, large } = reader.documents;
    const isUsedUp = small / smallDocumentsPerProcess + large / documentsPerProcess >= 1;
    if (!reader.isAlive || isUsedUp || closing.signal.aborted) {
      reader.kill();
      return;
    }
    const timer = setTimeout(() => {
      idle.splice(idle.indexOf(keptReader), 1);
      reader.kill();
    }, idleMs).unref();
    const keptReader = { reader, memoryMaxBytes, timer };
    idle.push(keptReader);
  };
  const readOnce = async <T>(reading: Reading<T>, limits: ExtractLimits, signal: AbortSignal): Promise<T> => {
    const reader = takeReader(limits.memoryMaxBytes);
    try {
      return await reader.read(reading, limits, signal);
    } finally {
      keepReader(reader, limits.memoryMaxBytes);
    }
  };

  const read = async <T>(reading: Reading<T>, limits: ExtractLimits, callerSignal: AbortSignal): Promise<T> => {
    const signal = AbortSignal.any([callerSignal, closing.signal]);
    signal.throwIfAborted();
    active += 1;
    try {
      return await readOnce(reading, limits, signal).catch((error: unknown) => {
        if (!(error instanceof ReaderLostError)) throw error;
        return readOnce(reading, limits, signal);
      });
    } catch (error) {
      if (!(error instanceof ReaderLostError)) throw error;
      throw error.isOfDocument ? crashed() : unavailable();
    } finally {
      active -= 1;
    }
  };

  return {
    extract: (source, limits, signal) => read(documentReading(source), limits, signal),
    ask: (question, limits, signal) => read(questionReading(question), limits, signal),
    async close() {
      closing.abort(new DOMException('The extractor was closed', 'AbortError'));
      for (const { reader, timer } of idle.splice(0)) {
        clearTimeout(timer);
        reader.kill();
      }
      while (active > 0) await delay(5);
    },
  };
}

/** It was read twice, and is not read a third time. */
function crashed(): ExtractError {
  return new ExtractError(
    'CRASHED',
    'The file ended the process that reads files, twice; open it, save it in another format, and add the new file.',
  );
}

function unavailable(): ExtractError {
  return new ExtractError('UNAVAILABLE', 'The process that reads files could not be started; try again later.');
}

interface IdleReader {
  readonly reader: ReaderProcess;
  readonly memoryMaxBytes: number;
  readonly timer: NodeJS.Timeout;
}
