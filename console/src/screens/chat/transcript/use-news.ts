import { useEffect, useRef } from 'react';
import { useText } from '../../../text/text.ts';
import { announce } from '../../../ui/overlay/announcer.tsx';
import type { Chat_MessageFragment } from '../documents.ts';
import type { TranscriptView } from './transcript.ts';

/** Tells who does not see the chat that an answer is coming, that it is there, and that a call waits. */
export function useNews({ runIds, messages }: TranscriptView): void {
  const { t } = useText();
  const isRunning = runIds.length > 0;
  const wasRunning = useRef(false);
  useEffect(() => {
    if (isRunning === wasRunning.current) return;
    wasRunning.current = isRunning;
    announce(isRunning ? t('An answer is coming.') : describeEnd(messages, t));
  }, [isRunning, messages, t]);
}

function describeEnd(messages: readonly Chat_MessageFragment[], t: (message: string) => string): string {
  const last = messages.at(-1);
  const [call] = last?.toolCalls ?? [];
  if (call !== undefined)
    return call.approval === true ? t('A call waits for your approval.') : t('A function waits for its output.');
  if (last?.run?.status === 'FAILED' || last?.error !== null) return t('The answer failed.');
  return last.run?.status === 'CANCELLED' ? t('Stopped.') : t('The answer is there.');
}
