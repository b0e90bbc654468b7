import type { ChatImportOmissionKind } from '../../entities/conversations/chats/import.ts';
import { Archive } from '../knowledge/extract/archive.ts';
import type { Answer } from '../knowledge/extract/document.ts';
import { ExtractError } from '../knowledge/extract/error.ts';
import { asObject, type ChatDraft, finishChat } from './draft.ts';
import { type ExportedChat, type ExportFacts, type ExportQuestion, exportLimits } from './exported-chat.ts';
import { readChatGpt } from './formats/chatgpt.ts';
import { readClaude } from './formats/claude.ts';
import { readLibreChat } from './formats/librechat.ts';
import { readOpenWebUi } from './formats/open-webui.ts';
import { readParley, treeFormat } from './formats/parley.ts';
import { type SplitChat, splitChats } from './split.ts';

/** Text of the chats of one answer, about. */
const answerChars = 4_000_000;
/** Files of an archive that are read: each may hold one chat. */
const filesMax = 5_000;

/** Reads chats of an export. Call it only in the process that reads exports: the file may be hostile. */
export async function readExport(question: unknown, bytes: Uint8Array): Promise<Answer> {
  const { from } = question as ExportQuestion;
  const reading = new Reading(from);
  for await (const chat of splitFiles(bytes)) {
    if (!reading.take(chat)) break;
  }
  return reading.finish();
}

/** Reads one window of the file; the first goes through the whole file, to count its chats and to find that it is whole. */
class Reading {
  readonly #from: number;
  readonly #chats: string[] = [];
  readonly #refusals: Partial<Record<ChatImportOmissionKind, number>> = {};
  #place = 0;
  #chars = 0;
  #next: number | null = null;
  #isStopped = false;
  #readable = 0;

  constructor(from: number) {
    this.#from = from;
  }

  /** @returns false when nothing of the rest of the file is needed. */
  take(chat: SplitChat): boolean {
    const place = this.#place;
    this.#place += 1;
    if (place < this.#from) return true;
    if (this.#next !== null) return this.#from === 0 || this.#stop();
    if (place >= exportLimits.chatsMax) this.#refuse('FURTHER_CHATS');
    else this.#read(chat);
    if (this.#chars >= answerChars) this.#next = place + 1;
    return true;
  }

  finish(): Answer {
    if (this.#from === 0 && this.#readable === 0) throw this.#nothingFound();
    const next = this.#next !== null && (this.#isStopped || this.#next < this.#place) ? this.#next : null;
    const total = this.#isStopped ? null : this.#place;
    const facts: ExportFacts = { next, total, refusals: this.#refusals as Record<string, number> };
    return { text: '', lists: { chats: this.#chats }, value: facts };
  }

  #stop(): false {
    this.#isStopped = true;
    return false;
  }

  #read(chat: SplitChat): void {
    if (!('json' in chat)) {
      this.#refuse(chat.refusal === 'TOO_LONG' ? 'LONG_CHATS' : 'UNREADABLE_CHATS');
      return;
    }
    const draft = readDraft(chat.json);
    if (draft === undefined) {
      this.#refuse('UNREADABLE_CHATS');
      return;
    }
    this.#readable += 1;
    const exported: ExportedChat | ChatImportOmissionKind = finishChat(draft);
    if (typeof exported === 'string') {
      this.#refuse(exported);
      return;
    }
    const text = JSON.stringify(exported);
    this.#chars += text.length;
    this.#chats.push(text);
  }

  #refuse(kind: ChatImportOmissionKind): void {
    this.#refusals[kind] = (this.#refusals[kind] ?? 0) + 1;
  }

  #nothingFound(): ExtractError {
    const advice = 'Exports of ChatGPT, Claude, LibreChat, Open WebUI and Parley can be imported.';
    if (this.#place === 0) return new ExtractError('NO_TEXT', `There is no chat in the file. ${advice}`);
    return new ExtractError('UNSUPPORTED_TYPE', `No chat in the file could be read. ${advice}`);
  }
}

/** @returns undefined for an object that is no chat of a product that is known. */
function readDraft(json: Buffer): ChatDraft | undefined {
  let value: unknown;
  try {
    value = JSON.parse(json.toString('utf8'));
  } catch {
    return undefined;
  }
  const chat = asObject(value);
  if (chat === undefined) return undefined;
  if (chat.format === treeFormat || (asObject(chat.ai) !== undefined && Array.isArray(chat.messages))) return readParley(chat);
  if (asObject(chat.mapping) !== undefined) return readChatGpt(chat);
  if (Array.isArray(chat.chat_messages)) return readClaude(chat);
  if (typeof chat.conversationId === 'string' && (Array.isArray(chat.messages) || Array.isArray(chat.messagesTree))) {
    return readLibreChat(chat);
  }
  if (asObject(asObject(asObject(chat.chat)?.history ?? chat.history)?.messages) !== undefined) return readOpenWebUi(chat);
  return undefined;
}

/** The chats of all files of an archive, or of the file itself. */
async function* splitFiles(bytes: Uint8Array): AsyncGenerator<SplitChat, void, void> {
  const isArchive = bytes[0] === 0x50 && bytes[1] === 0x4b;
  if (!isArchive) {
    yield* splitChats([bytes], exportLimits);
    return;
  }
  const archive = await Archive.open(bytes);
  if (archive === undefined) throw new ExtractError('CORRUPT', 'The archive is damaged or cut short; download it again.');
  const names = exportFiles(archive.names);
  if (names.length > filesMax) throw new ExtractError('TOO_LARGE', `The archive holds more than ${filesMax} JSON files.`);
  for (const name of names) yield* splitChats(archive.parts(name), exportLimits);
}

/** ChatGPT and Claude export `conversations.json`, or several with numbers, beside files of other things. Other archives have one chat a file. */
function exportFiles(names: readonly string[]): readonly string[] {
  const files = names.filter((name) => !name.startsWith('__MACOSX/') && name.toLowerCase().endsWith('.json')).toSorted();
  const ofAccounts = files.filter((name) => /^conversations(?:-\d{1,6})?\.json$/i.test(name.split('/').at(-1) ?? ''));
  return ofAccounts.length > 0 ? ofAccounts : files;
}
