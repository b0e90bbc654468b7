import { memo, useMemo, useRef } from 'react';
import { type AnswerCitations, CitationsContext } from '../../../parts/markdown/citations.tsx';
import { findClaim } from '../../../parts/markdown/reading/sentences.ts';
import { useText } from '../../../text/text.ts';
import { Avatar } from '../../../ui/small.tsx';
import { useChat } from '../chat-context.ts';
import type { Chat_MessageFragment } from '../documents.ts';
import { AnswerTexts, listMessageTexts, listRunTexts } from '../run/AnswerTexts.tsx';
import { followedRun, runStore, useOptionalRun } from '../run/run-store.ts';
import type { RunView } from '../run/run-view.ts';
import { Steps } from '../run/Steps.tsx';
import { AnswerBar } from './AnswerBar.tsx';
import { Calls } from './Calls.tsx';
import { Files } from './Files.tsx';
import { Outcome } from './Outcome.tsx';
import { MissingTools, RunProblem } from './RunProblem.tsx';
import type { Row } from './rows.ts';
import styles from './transcript.module.css';

/** What an agent said: while it says it, from the events of its run; then as the chat keeps it. */
export const Answer = memo(function Answer({
  row,
  isLast,
}: {
  readonly row: Extract<Row, { readonly kind: 'answer' }>;
  readonly isLast: boolean;
}) {
  const { t } = useText();
  const { chat, isBusy } = useChat();
  const { runId, isGreeting, isRunning, newVersion, messages } = row;
  const store = runId === undefined ? undefined : isRunning ? runStore(runId) : followedRun(runId);
  const view = useOptionalRun(store);
  const last = messages.findLast(({ role }) => role === 'ASSISTANT');
  const isLive = isRunning && view?.ended === undefined;
  const texts = isLive ? listRunTexts(view) : listMessageTexts(messages);
  const cited = useCitations(row, isLive ? (view ?? null) : undefined, texts);
  // Another agent than that of the chat may have answered, beside it.
  const agent = last?.run?.agent ?? chat.agent;
  const name = agent?.name ?? chat.modelId ?? t('Agent');
  return (
    <article className={styles.answer} aria-label={name} aria-busy={isLive}>
      <Avatar name={name} pictureUrl={agent?.pictureUrl} />
      <div className={styles.answerBody}>
        <h2 className={styles.who}>{name}</h2>
        {newVersion === undefined ? null : <NewVersion version={newVersion} />}
        {runId === undefined ? null : <Steps runId={runId} view={view} isLive={isLive} hasText={texts.length > 0} />}
        <CitationsContext value={cited}>
          <AnswerTexts texts={texts} isLive={isLive} />
        </CitationsContext>
        <PrintedSources citations={cited.citations} />
        {isLive ? null : messages.map(({ id, parts }) => <Files key={id} parts={parts} />)}
        <RunProblem store={store} view={view} />
        <MissingTools view={view} />
        {isLive || last === undefined ? null : (
          <>
            <Calls messages={messages} isLast={isLast} />
            <Outcome
              run={last.run}
              error={last.run?.error ?? null}
              messageId={last.id}
              isWordless={texts.length === 0 && messages.every(isEmpty)}
            />
            {isGreeting || texts.length === 0 ? null : (
              <AnswerBar message={last} text={texts.join('\n\n')} cited={cited} isBusy={isBusy} isLast={isLast} />
            )}
          </>
        )}
      </div>
    </article>
  );
});

/**
 * What an answer cites, and how a source of it is opened.
 *
 * @param live  the run that is giving the answer, null before its first event; undefined: the messages of the chat have it.
 */
function useCitations(
  { runId, messages }: Extract<Row, { readonly kind: 'answer' }>,
  live: RunView | null | undefined,
  texts: readonly string[],
): AnswerCitations {
  const { t } = useText();
  const { openSources } = useChat();
  const answers = messages.filter(({ role }) => role === 'ASSISTANT');
  const storedCitations = useSameList(
    live === undefined ? answers.flatMap((message) => message.citations) : (live?.citations ?? []),
  );
  const hiddenName = t('Hidden from you');
  const citations = useMemo(
    () => storedCitations.map((citation) => (citation.isHidden ? { ...citation, name: hiddenName } : citation)),
    [storedCitations, hiddenName],
  );
  const messageId = live === undefined ? answers.find((message) => message.citations.length > 0)?.id : undefined;
  // Not among what the list depends on: it would be another one with every token.
  const said = useRef('');
  said.current = texts.join('\n\n');
  return useMemo(
    () => ({
      citations,
      open: (index: number, claim = findClaim(said.current, index)) => openSources({ runId, messageId, citations, index, claim }),
    }),
    [citations, runId, messageId, openSources],
  );
}

function NewVersion({ version }: { readonly version: number }) {
  const { t } = useText();
  return (
    <p className={styles.newVersion}>
      {version === 0
        ? t('The agent was changed: a draft answers from here on.')
        : t('The agent was changed: version {version} answers from here on.', { version })}
    </p>
  );
}

/** On paper nobody can open a source: they are named below the answer. */
function PrintedSources({ citations }: Pick<AnswerCitations, 'citations'>) {
  if (citations.length === 0) return null;
  return (
    <ol className={styles.printedSources}>
      {citations.map(({ index, name: source }) => (
        <li key={`${index} ${source}`} value={index}>
          {source}
        </li>
      ))}
    </ol>
  );
}

/** Says nothing, calls nothing and shows no file. */
const isEmpty = ({ toolCalls, parts }: Chat_MessageFragment) =>
  toolCalls.length === 0 && parts.every((part) => part.__typename === 'TextPart');

/** The list before, while its members are the same: texts around a citation are not drawn again with every token. */
function useSameList<Member>(list: readonly Member[]): readonly Member[] {
  const before = useRef(list);
  const isSame = before.current.length === list.length && list.every((member, index) => member === before.current[index]);
  if (!isSame) before.current = list;
  return before.current;
}
