import type { FairQueue } from '../../lib/flow/fair-queue.ts';
import type { ShareOwner } from '../../lib/flow/fair-share.ts';
import type { Settings } from '../../settings.ts';
import { createExtractor, ExtractError } from '../knowledge/extract/extract.ts';
import { type ExportedChat, type ExportFacts, type ExportQuestion, exportedChat, exportFacts } from './exported-chat.ts';

/** Some chats of a file, in its order. */
export interface ExportWindow extends ExportFacts {
  readonly chats: readonly ExportedChat[];
}

/** Reads exports of chats in a process of its own, with a time and memory, one window after the other: a file may hold more than fits in memory. */
export interface ExportReader {
  /**
   * @param path  of a file of this machine with the bytes.
   * @throws ExtractError for a file that holds no chats, and for bytes that end the process or exceed its limits; the signal's reason.
   *
   * Cost: the file is read from its beginning; chats before `from` are passed over without being parsed.
   */
  read(owner: ShareOwner, path: string, question: ExportQuestion, signal: AbortSignal): Promise<ExportWindow>;
  close(): Promise<void>;
}

const program = new URL('./reader-program.ts', import.meta.url);
/** Behind everything that somebody waits for. */
const niceness = 10;

export function createExportReader(settings: Settings, places: FairQueue): ExportReader {
  const extractor = createExtractor({ niceness, entry: program });
  const limits = {
    timeoutMs: settings.EXTRACT_TIMEOUT_MS,
    memoryMaxBytes: settings.EXTRACT_MEMORY_MAX_BYTES,
    textMaxChars: settings.EXTRACT_TEXT_MAX_CHARS,
  };
  return {
    async read(owner, path, question, signal) {
      await places.take(owner, signal);
      try {
        const { lists, value } = await extractor.ask({ content: { path }, question }, limits, signal);
        return { ...valid(exportFacts.safeParse(value).data), chats: (lists.chats ?? []).map(readChat) };
      } finally {
        places.give(owner);
      }
    },
    close: () => extractor.close(),
  };
}

/** The process has parsed foreign bytes: what it says is checked like a request. */
function readChat(json: string): ExportedChat {
  const chat = valid(exportedChat.safeParse(JSON.parse(json)).data);
  const isTree = chat.messages.every(({ parent }, place) => parent === null || parent < place);
  return valid(isTree ? chat : undefined);
}

function valid<T>(value: T | undefined): T {
  if (value === undefined)
    throw new ExtractError('CORRUPT', 'The process that reads exports answered in another form than expected.');
  return value;
}
