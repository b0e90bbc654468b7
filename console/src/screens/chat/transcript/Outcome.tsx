import type { ParleyError } from '@parley/client';
import { useState } from 'react';
import { readableError, run as runMutation } from '../../../graphql/client.ts';
import { useText } from '../../../text/text.ts';
import { ErrorNote, Note } from '../../../ui/feedback.tsx';
import { Button } from '../../../ui/form/button.tsx';
import { type ToldFault, useFaultWords } from '../../../ui/form/faults/words.ts';
import { useChat } from '../chat-context.ts';
import { type Chat_MessageFragment, ChatRegenerateDocument, ChatRetryDocument } from '../documents.ts';

type EndedRun = Pick<NonNullable<Chat_MessageFragment['run']>, 'id' | 'status' | 'incompleteReason'>;

/** Says why an answer is not whole, and asks again. Shows nothing for one that is. */
export function Outcome({
  run,
  error,
  messageId,
  isUnanswered = false,
  isWordless = false,
}: {
  readonly run: EndedRun | null;
  readonly error: ToldFault | null;
  /** The message that is asked again when the run cannot be repeated. */
  readonly messageId: string;
  readonly isUnanswered?: boolean;
  /** There is an answer, and nothing in it. */
  readonly isWordless?: boolean;
}) {
  const { t } = useText();
  const { describeFault } = useFaultWords();
  const { chat, transcript, isBusy } = useChat();
  const [refused, setRefused] = useState<ParleyError>();
  const [isAsking, setAsking] = useState(false);
  const hasFailed = error !== null || run?.status === 'FAILED';
  const words = hasFailed ? t('The answer failed.') : getWords(run, isUnanswered, isUnanswered || isWordless, t);
  if (words === undefined) return null;
  const again = async () => {
    setAsking(true);
    setRefused(undefined);
    try {
      if (hasFailed && run !== null) {
        transcript.takeBegun((await runMutation(ChatRetryDocument, { runId: run.id })).retryRun, true);
      } else {
        const result = await runMutation(ChatRegenerateDocument, { id: messageId, input: null });
        transcript.takeBegun(result.regenerateMessage, true);
      }
    } catch (cause) {
      setRefused(readableError(cause));
    } finally {
      setAsking(false);
    }
  };
  const button =
    chat.canWrite && !isBusy ? (
      <Button size="small" isBusy={isAsking} onClick={() => void again()}>
        {t('Try again')}
      </Button>
    ) : undefined;
  return (
    <>
      <Note tone={hasFailed ? 'bad' : 'neutral'} action={button}>
        <p>{words}</p>
        {error === null ? null : <p>{describeFault(error)}</p>}
      </Note>
      <ErrorNote error={refused} />
    </>
  );
}

export function getWords(
  run: EndedRun | null,
  isUnanswered: boolean,
  isWordless: boolean,
  t: (message: string) => string,
): string | undefined {
  if (run?.status === 'CANCELLED') return isUnanswered ? t('Stopped before there was an answer.') : t('Stopped.');
  if (run?.status === 'COMPLETED' && isWordless) return t('The model answered without a word.');
  if (run?.status !== 'INCOMPLETE') return undefined;
  switch (run.incompleteReason) {
    case 'MAX_OUTPUT_TOKENS':
      return t('The answer was cut: it reached the length that is allowed.');
    case 'CONTENT_FILTER':
      return t('The provider of the model stopped the answer by its rules of content.');
    case 'TIMEOUT':
      return t('The answer was cut: it took too long.');
    case 'MAX_TOOL_CALLS':
      return t('The answer was cut: it made as many calls of tools as are allowed.');
    default:
      return t('The answer is not whole.');
  }
}
