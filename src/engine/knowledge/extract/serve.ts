import { Worker } from 'node:worker_threads';
import { type Answer, blockKinds, type DocumentBytes, type ExtractedDocument } from './document.ts';
import { ExtractError } from './error.ts';
import type { ReaderMessage, ReadRequest } from './protocol.ts';

export type ReadDocument = (document: DocumentBytes, textMaxChars: number) => Promise<ExtractedDocument>;

export type AnswerQuestion = (question: unknown, bytes: Uint8Array, textMaxChars: number) => Promise<Answer>;
type AnswerRequest = (request: ReadRequest, bytes: Uint8Array) => Promise<void>;

const textPieceChars = 256 * 1024;
const blocksPiece = 10_000;
/** Addresses have at most 2,000 characters. */
const listPiece = 100;

/**
 * The main loop of the process that reads untrusted documents. It starts with an empty environment and Node's permission model: it
 * may read its own code, and may neither write files, nor start processes, nor reach a network. Documents arrive on standard input, one at a time.
 */
export async function serveReader(load: () => Promise<ReadDocument>): Promise<void> {
  await serve(async () => {
    const read = await load();
    return async (request, bytes) => sendDocument(await read({ ...request, bytes }, request.textMaxChars));
  });
}

/** The same for a process that answers questions about bytes. */
export async function serveQuestions(load: () => Promise<AnswerQuestion>): Promise<void> {
  await serve(async () => {
    const answerQuestion = await load();
    return async ({ question, textMaxChars }, bytes) => sendAnswer(await answerQuestion(question, bytes, textMaxChars));
  });
}

async function serve(load: () => Promise<AnswerRequest>): Promise<void> {
  const setBusy = startWatchdog();
  process.on('disconnect', () => process.exit(0));
  const answerRequest = await load();
  process.on('message', (request: ReadRequest) => {
    void answer(request, answerRequest, setBusy);
  });
  await send({ type: 'ready' });
}

async function answer(request: ReadRequest, answerRequest: AnswerRequest, setBusy: (isBusy: boolean) => void): Promise<void> {
  setBusy(true);
  try {
    await answerRequest(request, await readInput(request.sizeBytes));
  } catch (error) {
    const { code, message } = error instanceof ExtractError ? error : corrupt(error);
    await send({ type: 'failed', code, message });
  }
  setBusy(false);
}

async function readInput(sizeBytes: number): Promise<Uint8Array> {
  const bytes = Buffer.allocUnsafeSlow(sizeBytes);
  let length = 0;
  while (length < sizeBytes) {
    const part: Buffer | null = process.stdin.read();
    if (part === null) await new Promise((resolve) => process.stdin.once('readable', resolve));
    else length += part.copy(bytes, length);
  }
  return bytes;
}

async function sendDocument({ text, blocks, ...facts }: ExtractedDocument): Promise<void> {
  await sendText(text);
  for (let start = 0; start < blocks.length; start += blocksPiece) {
    const values = blocks
      .slice(start, start + blocksPiece)
      .flatMap(({ kind, level, charStart, charEnd, page }) => [
        blockKinds.indexOf(kind),
        level ?? 0,
        charStart,
        charEnd,
        page ?? 0,
      ]);
    await send({ type: 'blocks', values });
  }
  await send({ type: 'done', ...facts });
}

async function sendText(text: string): Promise<void> {
  for (let start = 0; start < text.length; start += textPieceChars) {
    await send({ type: 'text', piece: text.slice(start, start + textPieceChars) });
  }
}

async function sendAnswer({ text, lists, value }: Answer): Promise<void> {
  await sendText(text);
  for (const [name, values] of Object.entries(lists)) {
    for (let start = 0; start < values.length; start += listPiece) {
      await send({ type: 'list', name, values: values.slice(start, start + listPiece) });
    }
  }
  await send({ type: 'answered', value });
}

/** Resolves when the message is written, so that parts of a long text do not queue up. */
function send(message: ReaderMessage): Promise<void> {
  return new Promise((resolve) => {
    process.send?.(message, undefined, undefined, () => resolve());
  });
}

/** The error of a document that a library could not parse; the library's message is not shown. */
function corrupt(error: unknown): ExtractError {
  if (error instanceof RangeError) {
    return new ExtractError('CORRUPT', 'The file is nested too deeply, or is too large, to be read.');
  }
  return new ExtractError('CORRUPT', 'The file is damaged, or is not what its name says; open it and save it again.');
}

/** Starts a thread that ends this process when it exceeds its memory or its parent has ended, even while the main thread is busy. */
function startWatchdog(): (isBusyNow: boolean) => void {
  const state = new Int32Array(new SharedArrayBuffer(4));
  const rssMaxBytes = process.memoryUsage.rss() + Number(process.argv[2]);
  const worker = new Worker(new URL('./watchdog.ts', import.meta.url), {
    // Passed by the parent: if the parent has ended, the parent id of this process is another one by now.
    workerData: { state, rssMaxBytes, parentId: Number(process.argv[3]) },
    execArgv: [],
  });
  worker.unref();
  return (isBusyNow) => {
    Atomics.store(state, 0, isBusyNow ? 1 : 0);
    Atomics.notify(state, 0);
  };
}
