import { ParleyError } from '@parley/client';
import { useSyncExternalStore } from 'react';
import { readableError, run, upload } from '../../../graphql/client.ts';
import { AddFileSourceDocument, AddToCollectionDocument, StoreFileDocument } from '../documents.ts';
import type { NamedFile } from './dropped.ts';

/** Where files go: each becomes a source of an agent, or all go into one collection. */
export type UploadPlace =
  | { readonly kind: 'each'; readonly agentId: string }
  | { readonly kind: 'together'; readonly collectionId: string; readonly sourceId: string };

export interface UploadEntry {
  readonly id: number;
  readonly name: string;
  readonly sizeBytes: number;
  readonly sentBytes: number;
  readonly state: 'waiting' | 'sending' | 'done' | 'failed';
  readonly error: ParleyError | undefined;
  readonly place: UploadPlace;
}

const togetherMax = 3;
const triesMax = 5;

/** The files that are being sent. It lives longer than the screens, so that one can go elsewhere meanwhile. */
class Uploads {
  #entries: readonly UploadEntry[] = [];
  readonly #files = new Map<number, File>();
  readonly #listeners = new Set<() => void>();
  #lastId = 0;
  #isNoticed = true;

  readonly subscribe = (listener: () => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
  readonly entries = () => this.#entries;

  add(files: readonly NamedFile[], place: UploadPlace): void {
    const additions = files.map(({ file, name }): UploadEntry => {
      this.#lastId += 1;
      this.#files.set(this.#lastId, file.name === name ? file : new File([file], name, { type: file.type }));
      return { id: this.#lastId, name, sizeBytes: file.size, sentBytes: 0, state: 'waiting', error: undefined, place };
    });
    const openEntries = this.#entries.filter(({ state }) => state !== 'done');
    this.#set([...(openEntries.length === 0 ? [] : this.#entries), ...additions]);
    this.#next();
  }

  retry(): void {
    this.#set(
      this.#entries.map((entry) => (entry.state === 'failed' ? { ...entry, state: 'waiting', error: undefined } : entry)),
    );
    this.#next();
  }

  /** Forgets what is over. */
  clear(): void {
    this.#set(this.#entries.filter(({ state }) => state === 'waiting' || state === 'sending'));
  }

  #set(entries: readonly UploadEntry[]): void {
    this.#entries = entries;
    const isBusy = entries.some(({ state }) => state === 'waiting' || state === 'sending');
    if (isBusy === this.#isNoticed) {
      if (isBusy) addEventListener('beforeunload', stay);
      else removeEventListener('beforeunload', stay);
      this.#isNoticed = !isBusy;
    }
    for (const listener of this.#listeners) listener();
  }

  #change(id: number, change: Partial<UploadEntry>): void {
    this.#set(this.#entries.map((entry) => (entry.id === id ? { ...entry, ...change } : entry)));
  }

  #next(): void {
    const sendingCount = this.#entries.filter(({ state }) => state === 'sending').length;
    for (const entry of this.#entries.filter(({ state }) => state === 'waiting').slice(0, togetherMax - sendingCount)) {
      this.#change(entry.id, { state: 'sending', sentBytes: 0 });
      void this.#send(entry);
    }
  }

  async #send({ id, place, sizeBytes }: UploadEntry): Promise<void> {
    try {
      const file = this.#files.get(id);
      if (file === undefined) throw new ParleyError('The file is gone.');
      await patiently(() =>
        sendFile(file, place, (sentBytes) => this.#change(id, { sentBytes: Math.min(sentBytes, sizeBytes) })),
      );
      this.#files.delete(id);
      this.#change(id, { state: 'done', sentBytes: sizeBytes });
    } catch (cause) {
      this.#change(id, { state: 'failed', error: readableError(cause) });
    }
    this.#next();
  }
}

export const uploads = new Uploads();

export function useUploads(): readonly UploadEntry[] {
  return useSyncExternalStore(uploads.subscribe, uploads.entries);
}

/** Browsers ask before they leave a page whose files are not all sent. */
function stay(event: BeforeUnloadEvent): void {
  event.preventDefault();
}

async function sendFile(file: File, place: UploadPlace, onSent: (bytes: number) => void): Promise<void> {
  const options = { onProgress: ({ sentBytes }: { readonly sentBytes: number }) => onSent(sentBytes) };
  if (place.kind === 'each') {
    await upload(AddFileSourceDocument, { agentId: place.agentId, file }, options);
    return;
  }
  const { createFile } = await upload(StoreFileDocument, { file }, options);
  await run(AddToCollectionDocument, { collectionId: place.collectionId, fileId: createFile.id });
}

/** Waits as long as the service asks for, when it has too much to do. */
async function patiently(work: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (cause) {
      const seconds = cause instanceof ParleyError ? cause.retryAfterSeconds : undefined;
      if (seconds === undefined || tries === triesMax) throw cause;
      await new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
    }
  }
}
