import { FileText, Ghost } from 'lucide-react';
import { type ReactNode, useLayoutEffect, useRef, useState } from 'react';
import { useLocation, useSearch } from 'wouter';
import { usePage } from '../../../../graphql/hooks.ts';
import files from '../../../../parts/files/files.module.css';
import { CitationsContext, useLinkedCitations } from '../../../../parts/markdown/citations.tsx';
import { useText } from '../../../../text/text.ts';
import { EmptyState, ErrorNote, Note, Skeleton } from '../../../../ui/feedback.tsx';
import { Button } from '../../../../ui/form/button.tsx';
import { Switch } from '../../../../ui/form/field.tsx';
import { sendByEnter } from '../../../../ui/form/keys.ts';
import { useLeaveGuard } from '../../../../ui/form/leave-guard.ts';
import { useConfirm } from '../../../../ui/overlay/confirm.tsx';
import { useTitle } from '../../../../ui/page.tsx';
import { Avatar, CopyButton, formatBytes } from '../../../../ui/small.tsx';
import { useAttachments } from '../../composer/attachments.ts';
import composer from '../../composer/composer.module.css';
import { FilePicker, TooLargeNote, useFiles } from '../../composer/files.tsx';
import { MessageBox, SendButton, StopButton } from '../../composer/MessageBox.tsx';
import { type Chat_AgentFragment, ChatSettingsDocument, ChatStartDocument } from '../../documents.ts';
import { AnswerTexts, listRunTexts } from '../../run/AnswerTexts.tsx';
import { Steps } from '../../run/Steps.tsx';
import { CallCards } from '../../transcript/Calls.tsx';
import transcript from '../../transcript/transcript.module.css';
import { AgentGone } from '../Gone.tsx';
import { ModelPicker } from '../ModelPicker.tsx';
import styles from './temporary.module.css';
import { type Turn, type Turns, useTurns } from './turns.ts';

/** A chat that is stored nowhere: `?agent=` says with whom. */
export function Temporary() {
  const { t } = useText();
  const agentId = new URLSearchParams(useSearch()).get('agent') ?? '';
  const { data, error, isLoading, reload } = usePage(ChatStartDocument, {
    ...{ agentId, hasAgent: agentId !== '' },
    ...{ projectId: '', hasProject: false },
  });
  useTitle(t('Temporary chat'));
  if (isLoading) return <Skeleton lines={6} />;
  const agent = data?.agent ?? undefined;
  if (agent !== undefined) return <TemporaryWith key={agent.id} agent={agent} />;
  if (error !== undefined && error.code !== 'NOT_FOUND') return <ErrorNote error={error} onRetry={reload} />;
  return <AgentGone />;
}

function TemporaryWith({ agent }: { readonly agent: Chat_AgentFragment }) {
  const { t } = useText();
  const confirm = useConfirm();
  const [, go] = useLocation();
  const { data } = usePage(ChatSettingsDocument, {});
  const [model, setModel] = useState<string>();
  const turns = useTurns(agent.id, model, t('The connection was lost, and the answer with it. Ask again.'));
  const isDirty = turns.turns.length > 0;
  useLeaveGuard(
    isDirty,
    (path) => path === '/temporary',
    () =>
      confirm({
        title: t('Leave this temporary chat?'),
        body: t('It is stored nowhere: what was said is gone then.'),
        action: t('Leave'),
        isDanger: true,
      }),
  );
  return (
    <div className={styles.temporary}>
      <header className={styles.head}>
        <Avatar name={agent.name} pictureUrl={agent.pictureUrl} />
        <h1>{agent.name}</h1>
        <span className={styles.space} />
        {isDirty ? <Button onClick={turns.clear}>{t('Start over')}</Button> : null}
        <Switch label={t('Temporary chat')} isOn onChange={() => go(`/?agent=${encodeURIComponent(agent.id)}`)} />
      </header>
      <TurnList turns={turns} agent={agent} />
      <div className={composer.composer}>
        <Note>
          {t(
            'Nothing said here is stored, and a reload loses it. The ledger keeps whom you asked, when, at what cost, and the names of documents that were looked up.',
          )}
        </Note>
        <Box turns={turns} fileMaxBytes={data?.viewer.limits.chatFileMaxBytes}>
          <ModelPicker models={(data?.models ?? []).map(({ id }) => id)} own={agent.modelId} chosen={model} onChoose={setModel} />
        </Box>
      </div>
    </div>
  );
}

function TurnList({ turns: { turns, answer }, agent }: { readonly turns: Turns; readonly agent: Chat_AgentFragment }) {
  const { t } = useText();
  const list = useRef<HTMLElement>(null);
  const isAtEnd = useRef(true);
  useLayoutEffect(() => {
    const box = list.current;
    if (box !== null && isAtEnd.current) box.scrollTop = box.scrollHeight;
  });
  const onScroll = () => {
    const box = list.current;
    if (box !== null) isAtEnd.current = box.scrollHeight - box.scrollTop - box.clientHeight < 80;
  };
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
    <section ref={list} className={transcript.scroller} aria-label={t('Transcript')} tabIndex={0} onScroll={onScroll}>
      {turns.length === 0 ? (
        <EmptyState icon={<Ghost size={26} aria-hidden />} title={t('A chat that is not kept')}>
          {t('It is in no list and no search, and gone when you leave.')}
        </EmptyState>
      ) : null}
      {turns.map((turn) => (
        <OneTurn key={turn.id} turn={turn} agent={agent} onAnswer={turn === turns.at(-1) ? answer : undefined} />
      ))}
    </section>
  );
}

function OneTurn({
  turn,
  agent,
  onAnswer,
}: {
  readonly turn: Turn;
  readonly agent: Chat_AgentFragment;
  /** Undefined for calls of earlier turns: nobody waits for their answers any more. */
  readonly onAnswer: Turns['answer'] | undefined;
}) {
  const { t } = useText();
  const { view, isLive, isStopped, error, calls, answers } = turn;
  const cited = useLinkedCitations(view.citations);
  const texts = listRunTexts(view);
  const failure = view.ended?.error?.message;
  return (
    <>
      {turn.question === undefined ? null : (
        <div className={transcript.row}>
          <div className={transcript.user}>
            {turn.files.map((file) => (
              <span key={file.name} className={files.file}>
                <FileText size={16} aria-hidden /> {file.name}
              </span>
            ))}
            {turn.question === '' ? null : (
              <div className={transcript.bubble} dir="auto">
                {turn.question}
              </div>
            )}
          </div>
        </div>
      )}
      <div className={transcript.row}>
        <article className={transcript.answer} aria-label={agent.name} aria-busy={isLive}>
          <Avatar name={agent.name} pictureUrl={agent.pictureUrl} />
          <div className={transcript.answerBody}>
            <h2 className={transcript.who}>{agent.name}</h2>
            {isLive || view.steps.length > 0 ? <Steps runId="" view={view} isLive={isLive} hasText={texts.length > 0} /> : null}
            <CitationsContext value={cited}>
              <AnswerTexts texts={texts} isLive={isLive} />
            </CitationsContext>
            {isStopped ? <Note>{t('Stopped.')}</Note> : null}
            {failure === undefined ? null : <Note tone="bad">{failure}</Note>}
            {calls.length === 0 ? null : (
              <CallCards
                calls={calls}
                answers={answers}
                isOpen={onAnswer !== undefined && !isLive}
                onAnswer={(id, reply) => onAnswer?.(id, reply)}
              />
            )}
            <ErrorNote error={error} />
            {isLive || texts.length === 0 ? null : (
              <div className={transcript.bar}>
                <CopyButton text={texts.join('\n\n')} label={t('Copy the answer')} />
              </div>
            )}
          </div>
        </article>
      </div>
    </>
  );
}

/** Files of the whole chat go with each question, in one request. */
const filesMaxBytes = 5_000_000;

const countBytes = (list: readonly File[]) => list.reduce((sum, { size }) => sum + size, 0);

/** The box of a temporary chat keeps no draft, and its files stay in the page. */
function Box({
  turns: { turns, ask, stop, isBusy },
  fileMaxBytes,
  children,
}: {
  readonly turns: Turns;
  readonly fileMaxBytes: number | undefined;
  readonly children: ReactNode;
}) {
  const { t, number } = useText();
  const [text, setText] = useState('');
  const box = useRef<HTMLTextAreaElement>(null);
  const attachments = useAttachments(undefined);
  const { tooLarge, addFiles, isOver, onPaste } = useFiles(attachments, fileMaxBytes);
  const attached = attachments.items.map(({ file }) => file);
  const isTooMuch = countBytes([...turns.flatMap((turn) => turn.files), ...attached]) > filesMaxBytes;
  const isEmpty = text.trim() === '' && attached.length === 0;
  const canSend = !isEmpty && !isBusy && !isTooMuch;
  const focusBox = () => box.current?.focus();
  const send = () => {
    if (!canSend) return;
    ask(text.trim(), attached);
    setText('');
    attachments.clear(attachments.items);
    focusBox();
  };
  return (
    <form
      data-over={isOver || undefined}
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <TooLargeNote names={tooLarge} fileMaxBytes={fileMaxBytes} />
      {isTooMuch ? (
        <Note tone="warn">
          {t('The files of a temporary chat may have {size} together.', { size: formatBytes(filesMaxBytes, number) })}
        </Note>
      ) : null}
      <MessageBox
        box={box}
        attachments={attachments}
        value={text}
        autoComplete="off"
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => sendByEnter(event, send)}
        onPaste={onPaste}
      >
        <FilePicker onFiles={addFiles} />
        {children}
        <span className={composer.space} />
        {isBusy ? (
          <StopButton
            isStopping={false}
            onStop={() => {
              stop();
              focusBox();
            }}
            onGone={focusBox}
          />
        ) : (
          <SendButton isDisabled={!canSend} />
        )}
      </MessageBox>
    </form>
  );
}
