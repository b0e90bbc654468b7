import type { ParleyError } from '@parley/client';
import { useCallback, useRef, useState } from 'react';
import { readableError, run, upload } from '../../../graphql/client.ts';
import { type Chat_FileFragment, ChatDeleteFileDocument, ChatUploadDocument } from '../documents.ts';

/** A file that goes with the next message. */
export interface Attachment {
  readonly id: string;
  readonly file: File;
  /** How much is sent, 0 to 100; undefined before it begins. */
  readonly percent: number | undefined;
  /** Set once the service has it. */
  readonly stored: Chat_FileFragment | undefined;
  readonly error: ParleyError | undefined;
}

export interface Attachments {
  readonly items: readonly Attachment[];
  readonly add: (files: readonly File[]) => void;
  readonly remove: (id: string) => void;
  /** Takes those away that were sent. */
  readonly clear: (sent: readonly Attachment[]) => void;
  /** Sends all that is not sent yet to a chat; what was refused before is left out. @returns their ids; undefined when one failed. */
  readonly sendTo: (chatId: string) => Promise<readonly string[] | undefined>;
  /** Their chat is gone: they are to be sent again. */
  readonly forget: () => void;
  readonly isSending: boolean;
}

/** The files of a message that is being written. In a chat they are sent at once; before there is one, with the message. */
export function useAttachments(chatId: string | undefined): Attachments {
  const [items, setItems] = useState<readonly Attachment[]>([]);
  const latest = useRef(items);
  const sending = useRef(new Map<string, { readonly abort: AbortController; readonly done: Promise<string | undefined> }>());
  const change = useCallback((next: (items: readonly Attachment[]) => readonly Attachment[]) => {
    latest.current = next(latest.current);
    setItems(latest.current);
  }, []);
  const patch = useCallback(
    (id: string, changes: Partial<Attachment>) =>
      change((all) => all.map((each) => (each.id === id ? { ...each, ...changes } : each))),
    [change],
  );
  const send = useCallback(
    (target: string, { id, file }: Attachment) => {
      const abort = new AbortController();
      const work = async () => {
        patch(id, { percent: 0, error: undefined });
        try {
          const onProgress = ({ sentBytes, totalBytes }: { readonly sentBytes: number; readonly totalBytes: number }) =>
            patch(id, { percent: Math.round((sentBytes / totalBytes) * 100) });
          const options = { signal: abort.signal, onProgress };
          const { uploadChatFile } = await upload(ChatUploadDocument, { chatId: target, file }, options);
          patch(id, { percent: 100, stored: uploadChatFile });
          return uploadChatFile.id;
        } catch (cause) {
          if (!abort.signal.aborted) patch(id, { percent: undefined, error: readableError(cause) });
          return undefined;
        } finally {
          sending.current.delete(id);
        }
      };
      const outcome = work();
      sending.current.set(id, { abort, done: outcome });
      return outcome;
    },
    [patch],
  );
  const add = (files: readonly File[]) => {
    const additions = files.map((file, index): Attachment => {
      const id = `${performance.now()}-${index}-${file.name}`;
      return { id, file, percent: undefined, stored: undefined, error: undefined };
    });
    change((all) => [...all, ...additions]);
    if (chatId !== undefined) for (const each of additions) void send(chatId, each);
  };
  const remove = (id: string) => {
    sending.current.get(id)?.abort.abort();
    const storedFile = latest.current.find((each) => each.id === id)?.stored;
    change((all) => all.filter((each) => each.id !== id));
    // It stays a file of the chat when this fails, which does no harm.
    if (storedFile !== undefined && chatId !== undefined) {
      void run(ChatDeleteFileDocument, { chatId, fileId: storedFile.id }).catch(() => undefined);
    }
  };
  const sendTo = async (target: string) => {
    const ids = await Promise.all(
      latest.current
        .filter((each) => !isRefused(each))
        .map((each) => each.stored?.id ?? sending.current.get(each.id)?.done ?? send(target, each)),
    );
    const whole = ids.filter((id) => id !== undefined);
    return whole.length === ids.length ? whole : undefined;
  };
  const clear = useCallback(
    (sent: readonly Attachment[]) => {
      const sentIds = new Set(sent.map(({ id }) => id));
      change((all) => all.filter(({ id }) => !sentIds.has(id)));
    },
    [change],
  );
  const forget = () => change((all) => all.map((each) => ({ ...each, percent: undefined, stored: undefined })));
  const isSending = items.some(({ percent, stored }) => percent !== undefined && stored === undefined);
  return { items, add, remove, clear, sendTo, forget, isSending };
}

/** Whether the service said that it does not take the file: to try again is no use. */
export function isRefused({ error }: Attachment): boolean {
  return error?.code !== undefined && !passingCodes.includes(error.code) && error.retryAfterSeconds === undefined;
}

const passingCodes = ['NO_ANSWER', 'SERVER_ERROR'];
