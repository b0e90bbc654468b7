import { Check, Square, ThumbsUp } from 'lucide-react';
import { memo, useState } from 'react';
import { run } from '../../../graphql/client.ts';
import { useText } from '../../../text/text.ts';
import { formatCost } from '../../../ui/cost.ts';
import { Note } from '../../../ui/feedback.tsx';
import { Button, IconButton } from '../../../ui/form/button.tsx';
import { useFaultWords } from '../../../ui/form/faults/words.ts';
import { useAttempt } from '../../../ui/overlay/toasts.tsx';
import { Avatar, CopyButton, formatMs } from '../../../ui/small.tsx';
import { useChat } from '../chat-context.ts';
import {
  type Chat_MessageFragment,
  ChatRateDocument,
  ChatSelectBranchDocument,
  ChatStopDocument,
  type RateMessageInput,
} from '../documents.ts';
import { AnswerTexts, listMessageTexts, listRunTexts } from '../run/AnswerTexts.tsx';
import { runStore, useOptionalRun } from '../run/run-store.ts';
import { Steps } from '../run/Steps.tsx';
import { Files } from '../transcript/Files.tsx';
import { getWords } from '../transcript/Outcome.tsx';
import type { Row } from '../transcript/rows.ts';
import { type AnswerColumn, listColumns } from './columns.ts';
import styles from './compare.module.css';

/** What an answer is rated with that is better than those beside it. */
const betterTag = 'better';
const isBetter = ({ feedback }: Chat_MessageFragment) => feedback?.rating === 'UP' && feedback.tags.includes(betterTag);

/** Answers to one message beside each other, while they are being given and until one of them is chosen. */
export const Comparison = memo(function Comparison({ row }: { readonly row: Extract<Row, { readonly kind: 'comparison' }> }) {
  const { t } = useText();
  const { chat, transcript, chooseModel } = useChat();
  const attempt = useAttempt();
  const [chosenKey, setChosenKey] = useState<string>();
  const columns = listColumns(row, chat);
  const goOn = (column: AnswerColumn, message: Chat_MessageFragment) =>
    attempt(async () => {
      setChosenKey(column.key);
      try {
        for (const other of columns) {
          if (other.isRunning && other.key !== column.key) await run(ChatStopDocument, { runId: other.runId });
        }
        await run(ChatSelectBranchDocument, { messageId: message.id });
        const isOtherModel = column.agentId === chat.agent?.id && column.modelId !== (chat.agent?.modelId ?? chat.modelId);
        chooseModel(isOtherModel ? column.modelId : undefined);
        await transcript.reloadBranch();
      } finally {
        setChosenKey(undefined);
      }
    });
  const rate = (message: Chat_MessageFragment) =>
    attempt(async () => {
      const wasBetter = isBetter(message);
      for (const other of columns.flatMap(({ messages }) => messages)) {
        if (other.id === message.id || !isBetter(other)) continue;
        transcript.takeRated((await run(ChatRateDocument, { id: other.id, input: { rating: 'NONE' } })).rateMessage);
      }
      const input: RateMessageInput = wasBetter ? { rating: 'NONE' } : { rating: 'UP', tags: [betterTag] };
      transcript.takeRated((await run(ChatRateDocument, { id: message.id, input })).rateMessage);
    });
  return (
    <section className={styles.comparison} aria-label={t('Answers beside each other')}>
      {columns.map((column) => (
        <Column
          key={column.key}
          column={column}
          isChoosing={chosenKey === column.key}
          onGoOn={(message) => void goOn(column, message)}
          onBetter={(message) => void rate(message)}
          onStop={() => void attempt(async () => void (await run(ChatStopDocument, { runId: column.runId })))}
        />
      ))}
    </section>
  );
});

function Column({
  column,
  isChoosing,
  onGoOn,
  onBetter,
  onStop,
}: {
  readonly column: AnswerColumn;
  readonly isChoosing: boolean;
  readonly onGoOn: (message: Chat_MessageFragment) => void;
  readonly onBetter: (message: Chat_MessageFragment) => void;
  readonly onStop: () => void;
}) {
  const { t } = useText();
  const { chat } = useChat();
  const view = useOptionalRun(column.isRunning ? runStore(column.runId) : undefined);
  const isLive = column.isRunning && view?.ended === undefined;
  const messages = view?.ended?.messages ?? column.messages;
  const last = messages.findLast(({ role }) => role === 'ASSISTANT');
  const texts = isLive ? listRunTexts(view) : listMessageTexts(messages);
  const waits = !isLive && messages.some(({ toolCalls }) => toolCalls.length > 0);
  return (
    <article className={styles.column} aria-label={`${column.name}, ${column.model}`} aria-busy={isLive}>
      <header className={styles.columnHead}>
        <Avatar name={column.name} pictureUrl={column.pictureUrl} />
        <h2>{column.name}</h2>
        <small>{column.model}</small>
      </header>
      <div className={styles.columnBody}>
        <Steps runId={column.runId} view={view} isLive={isLive} hasText={texts.length > 0} />
        <AnswerTexts texts={texts} isLive={isLive} />
        {isLive ? null : messages.map(({ id, parts }) => <Files key={id} parts={parts} />)}
        {isLive ? null : <Problem column={column} isWordless={texts.length === 0} />}
        {waits ? <Note tone="warn">{t('It waits for your decision: go on with this answer to give it.')}</Note> : null}
      </div>
      <footer className={styles.columnFoot}>
        <Figures column={column} />
        {isLive && chat.canWrite ? (
          <Button size="small" icon={<Square size={12} fill="currentColor" aria-hidden />} onClick={onStop}>
            {t('Stop this answer')}
          </Button>
        ) : null}
        {isLive || last === undefined || !chat.canWrite ? null : (
          <>
            <CopyButton text={texts.join('\n\n')} label={t('Copy the answer')} />
            <IconButton label={t('Better')} isActive={isBetter(last)} onClick={() => onBetter(last)}>
              <ThumbsUp size={16} aria-hidden />
            </IconButton>
            <Button size="small" icon={<Check size={15} aria-hidden />} isBusy={isChoosing} onClick={() => onGoOn(last)}>
              {t('Go on with this one')}
            </Button>
          </>
        )}
      </footer>
    </article>
  );
}

/** Why an answer is not whole. */
function Problem({
  column: { error, status, incompleteReason },
  isWordless,
}: {
  readonly column: AnswerColumn;
  readonly isWordless: boolean;
}) {
  const { t } = useText();
  const { describeFault } = useFaultWords();
  if (error !== null) return <Note tone="bad">{describeFault(error)}</Note>;
  const words = getWords({ id: '', status, incompleteReason }, isWordless, isWordless, t);
  return words === undefined ? null : <Note tone="neutral">{words}</Note>;
}

/** What an answer took and cost. */
function Figures({ column: { durationMs, cost, usage } }: { readonly column: AnswerColumn }) {
  const { t, number } = useText();
  const { costCurrency } = useChat();
  const tokens = usage === null ? undefined : usage.inputTokens + usage.outputTokens;
  const parts = [
    durationMs === null ? '' : formatMs(durationMs, number),
    tokens === undefined ? '' : t('{count, plural, one {# token} other {# tokens}}', { count: tokens }),
    cost === null || costCurrency === undefined ? '' : formatCost(cost, costCurrency, number),
  ].filter((part) => part !== '');
  return <span className={styles.figures}>{parts.join(' · ')}</span>;
}
