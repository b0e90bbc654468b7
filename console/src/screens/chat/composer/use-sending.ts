import type { ParleyError } from '@parley/client';
import { useState } from 'react';
import { readableError, run } from '../../../graphql/client.ts';
import { useText } from '../../../text/text.ts';
import { useErrorToast, useToast } from '../../../ui/overlay/toasts.tsx';
import { beginComparison, type CompareChoice } from '../compare/choices.ts';
import { ChatSendDocument, type ThreadMode } from '../documents.ts';
import type { Transcript } from '../transcript/transcript.ts';
import type { Attachments } from './attachments.ts';
import { readPrompt } from './prompt.ts';
import type { Sending } from './sending.ts';

/**
 * Sends messages to a chat. The message stands in the transcript at once; one that is refused goes back into the box. Files that are added while a
 * message is on its way belong to the next one.
 */
export function useSending(
  transcript: Transcript,
  attachments: Attachments,
  model: string | undefined,
  choices: readonly CompareChoice[],
): Sending {
  const { t } = useText();
  const say = useToast();
  const sayError = useErrorToast();
  /** The message has arrived, whatever becomes of the answers beside the first one. */
  const compare = async (messageId: string | undefined) => {
    if (choices.length === 0) return;
    if (messageId === undefined) return say(t('A message that waits is answered once: it is not compared.'), 'warn');
    await beginComparison(transcript, messageId, choices).catch(sayError);
  };
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<ParleyError>();
  const send = async (text: string, threadMode?: ThreadMode) => {
    setBusy(true);
    setError(undefined);
    const sent = attachments.items;
    const filenames = sent.map(({ file }) => file.name);
    const takeAway = transcript.addPending({ id: `pending-${performance.now()}`, text, filenames });
    try {
      const fileIds = await attachments.sendTo(transcript.chatId);
      if (fileIds === undefined) return false;
      const input = {
        ...{ prompt: readPrompt(text, fileIds), modelId: model ?? null, date: new Date().toISOString() },
        ...(threadMode === undefined ? {} : { threadMode }),
      };
      const { sendMessage } = await run(ChatSendDocument, { chatId: transcript.chatId, input });
      attachments.clear(sent);
      transcript.takeSent(sendMessage);
      void compare(sendMessage.messages.findLast(({ role }) => role === 'USER')?.id);
      return true;
    } catch (cause) {
      setError(readableError(cause));
      return false;
    } finally {
      takeAway();
      setBusy(false);
    }
  };
  return { send, isBusy, error };
}
