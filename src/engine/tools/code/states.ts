import type { OutputFile } from '../../../entities/conversations/runs/tool.ts';
import type { IdKind } from '../../../entities/ground/ids.ts';
import { decodeFrame, encodeFrame, splitParts } from '../../../lib/frame.ts';
import type { Storage } from '../../../storage/storage.ts';
import type { SecretPlace } from '../../../storage/vault/vault.ts';
import type { ToolRun } from '../tool-kind.ts';

/** What a program leaves for the next one of its chat, or of its stateless run. */
export interface CodeState {
  /** The call that made it, and what that call answered: the same call made again answers it and runs nothing. */
  readonly call: string;
  readonly answer: { readonly text: string; readonly files: readonly OutputFile[] };
  /** The files of `/workspace`. */
  readonly files: readonly StateFile[];
  /** Chat files that programs have deleted from `/workspace`. */
  readonly hidden: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly folder: string;
  /** Only the box reads them. */
  readonly variables: Buffer;
}

export interface StateFile {
  readonly path: string;
  /** The chat file that holds its bytes; null for a file that is kept here only. */
  readonly fileId: string | null;
  /** Empty for a chat file. */
  readonly bytes: Buffer;
}

export interface CodeStateDeps {
  readonly storage: Pick<Storage, 'conversations' | 'blobs' | 'vault'>;
  readonly ttlMs: number;
  now(): Date;
  newId(kind: IdKind): string;
}

const none = Buffer.alloc(0);

/**
 * The state of programs: of a chat in blob storage, so that every instance finds it; of a stateless run in memory. The blob is sealed, because a
 * program may keep any secret that its model has seen.
 */
export class CodeStates {
  readonly #deps: CodeStateDeps;
  readonly #ofRuns = new WeakMap<ToolRun['files'], CodeState>();

  constructor(deps: CodeStateDeps) {
    this.#deps = deps;
  }

  async find({ chatId, files, plan }: ToolRun): Promise<CodeState | undefined> {
    if (chatId === null) return this.#ofRuns.get(files);
    const { storage, now } = this.#deps;
    const blobKey = await storage.conversations.codeStates.find(chatId, now());
    if (blobKey === undefined) return undefined;
    // A state that was replaced or deleted in this moment, or is damaged, is no state.
    return storage.blobs
      .read(blobKey)
      .then((sealedBytes) => storage.vault.openBytes(toSecretPlace(plan, chatId), sealedBytes))
      .then(decodeState)
      .catch(() => undefined);
  }

  async put({ chatId, files, plan }: ToolRun, state: CodeState): Promise<void> {
    if (chatId === null) {
      this.#ofRuns.set(files, state);
      return;
    }
    const { storage, now, newId, ttlMs } = this.#deps;
    const bytes = await storage.vault.sealBytes(toSecretPlace(plan, chatId), encodeState(state));
    const blobKey = `${plan.charge.orgId}/code-states/${newId('upload')}`;
    await storage.blobs.put(blobKey, bytes, bytes.length);
    const put = await storage.conversations.codeStates
      .set(chatId, blobKey, new Date(now().getTime() + ttlMs))
      .catch(async (error: unknown) => {
        await storage.blobs.delete(blobKey);
        throw error;
      });
    if (put === false) await storage.blobs.delete(blobKey);
    else if (put.before !== undefined) await storage.blobs.delete(put.before);
  }
}

function toSecretPlace({ charge }: ToolRun['plan'], chatId: string): SecretPlace {
  return { orgId: charge.orgId, table: 'code_states', rowId: chatId };
}

function encodeState({ variables, files, ...rest }: CodeState): Buffer {
  const describedFiles = files.map(({ path, fileId, bytes }) => ({ path, fileId, sizeBytes: bytes.length }));
  const header = { ...rest, files: describedFiles, variablesBytes: variables.length };
  return encodeFrame(header, [...files.map(({ bytes }) => bytes), variables]);
}

function decodeState(bytes: Buffer): CodeState {
  const { header, body } = decodeFrame(bytes);
  const { files, variablesBytes, ...rest } = header as unknown as Omit<CodeState, 'files' | 'variables'> & {
    readonly files: readonly { readonly path: string; readonly fileId: string | null; readonly sizeBytes: number }[];
    readonly variablesBytes: number;
  };
  const parts = splitParts(body, [...files.map(({ sizeBytes }) => sizeBytes), variablesBytes]);
  const keptFiles = files.map(({ path, fileId }, index) => ({ path, fileId, bytes: parts[index] ?? none }));
  return { ...rest, files: keptFiles, variables: parts.at(-1) ?? none };
}
