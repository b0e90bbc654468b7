import { RotateCcw, X } from 'lucide-react';
import { useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { Markdown } from '../../../../parts/markdown/Markdown.tsx';
import { useSession } from '../../../../parts/session/session.tsx';
import { useText } from '../../../../text/text.ts';
import { ErrorNote, Note } from '../../../../ui/feedback.tsx';
import { Button, IconButton } from '../../../../ui/form/button.tsx';
import { useFaultWords } from '../../../../ui/form/faults/words.ts';
import { TextArea } from '../../../../ui/form/field.tsx';
import { sendByEnter } from '../../../../ui/form/keys.ts';
import type { EditorAgent } from '../section.ts';
import styles from './preview.module.css';
import { PreviewChat, type Turn } from './preview-chat.ts';

interface Props {
  readonly agent: EditorAgent;
  /** Whether the editor holds changes that the preview does not know. */
  readonly isDirty: boolean;
  readonly onClose: () => void;
}

/** A chat beside the editor with the agent as it is saved. It is deleted when the preview is closed or begins anew. */
export function Preview(props: Props) {
  const [round, setRound] = useState(0);
  return <PreviewRound key={round} {...props} onRestart={() => setRound(round + 1)} />;
}

function PreviewRound({ agent, isDirty, onClose, onRestart }: Props & { readonly onRestart: () => void }) {
  const { t } = useText();
  const { chat, turns } = usePreviewChat(agent);
  const log = useRef<HTMLElement>(null);
  // The end of the answer stays in sight while it grows.
  useEffect(() => {
    if (turns.length > 0) log.current?.scrollTo({ top: log.current.scrollHeight });
  }, [turns]);
  const last = turns.at(-1);
  return (
    <aside className={styles.preview} aria-label={t('Preview')}>
      <header className={styles.head}>
        <h2>{t('Preview')}</h2>
        <IconButton label={t('Begin anew')} disabled={turns.length === 0} onClick={onRestart}>
          <RotateCcw size={17} aria-hidden />
        </IconButton>
        <IconButton label={t('Close the preview')} onClick={onClose}>
          <X size={18} aria-hidden />
        </IconButton>
      </header>
      {isDirty ? <Note tone="warn">{t('The preview answers as the agent is saved: save to try what you changed.')}</Note> : null}
      {agent.draft?.isChanged === true && !isDirty ? (
        <Note>{t('The preview tries the draft, which people do not get yet.')}</Note>
      ) : null}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
      <section ref={log} className={styles.log} aria-label={t('Preview of the chat')} tabIndex={0}>
        {turns.length === 0 ? (
          <p className={styles.hint}>
            {agent.introduction ?? t('Ask something that people will ask. The chat is deleted when you close the preview.')}
          </p>
        ) : null}
        {turns.map((turn, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: turns are added at the end only
          <TurnView key={index} turn={turn} />
        ))}
      </section>
      <QuestionForm
        isBusy={last !== undefined && last.ended === undefined && last.error === undefined}
        onAsk={(question) => void chat.ask(question, [], t('Preview of {name}', { name: agent.name }).slice(0, 200))}
        onStop={() => void chat.stop()}
      />
    </aside>
  );
}

/** A chat that is deleted with the preview, also when the window is closed. Editors try the draft. */
function usePreviewChat(agent: EditorAgent) {
  const session = useSession();
  const isDraft = agent.canEdit && session.may('AGENTS_WRITE');
  const [chat] = useState(() => new PreviewChat(agent.id, isDraft ? 'draft' : null));
  const turns = useSyncExternalStore(chat.subscribe, chat.getSnapshot);
  useEffect(() => {
    const close = () => chat.close();
    addEventListener('pagehide', close);
    return () => {
      removeEventListener('pagehide', close);
      close();
    };
  }, [chat]);
  return { chat, turns };
}

function QuestionForm({
  isBusy,
  onAsk,
  onStop,
}: {
  readonly isBusy: boolean;
  readonly onAsk: (question: string) => void;
  readonly onStop: () => void;
}) {
  const { t } = useText();
  const [text, setText] = useState('');
  const send = () => {
    const question = text.trim();
    if (question === '' || isBusy) return;
    setText('');
    onAsk(question);
  };
  return (
    <form
      className={styles.composer}
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <TextArea
        aria-label={t('Try a question')}
        placeholder={t('Try a question')}
        rows={1}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => sendByEnter(event, send)}
      />
      {isBusy ? (
        <Button onClick={onStop}>{t('Stop')}</Button>
      ) : (
        <Button type="submit" disabled={text.trim() === ''}>
          {t('Send')}
        </Button>
      )}
    </form>
  );
}

function TurnView({ turn }: { readonly turn: Turn }) {
  const { t } = useText();
  const { describeFault } = useFaultWords();
  const { question, answer, tools, ended, error } = turn;
  const openCalls = ended?.toolCalls ?? [];
  return (
    <article className={styles.turn}>
      <p className={styles.question}>{question}</p>
      {tools.length > 0 ? (
        <p className={styles.tools}>{t('Called: {tools}', { tools: [...new Set(tools)].join(', ') })}</p>
      ) : null}
      {answer === '' && ended === undefined && error === undefined ? (
        <p className={styles.tools} role="status">
          {t('Answering …')}
        </p>
      ) : (
        <Markdown text={answer} isGrowing={ended === undefined} />
      )}
      {ended !== undefined && ended.citations.length > 0 ? (
        <ol className={styles.sources} aria-label={t('Cited')}>
          {ended.citations.map(({ id, index, name }) => (
            <li key={id} value={index}>
              {name}
            </li>
          ))}
        </ol>
      ) : null}
      {openCalls.length > 0 ? (
        <Note tone="warn">
          {t('It waits for {tools}. Ask the agent in a chat to approve or to answer.', {
            tools: openCalls.map(({ name }) => name).join(', '),
          })}
        </Note>
      ) : null}
      {ended?.error == null ? null : <Note tone="bad">{describeFault(ended.error)}</Note>}
      {ended?.incompleteReason == null ? null : <Note tone="warn">{t('The answer is cut.')}</Note>}
      <ErrorNote error={error} />
    </article>
  );
}
