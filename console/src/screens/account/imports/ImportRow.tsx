import { useMutate } from '../../../graphql/hooks.ts';
import styles from '../../../parts/people/people.module.css';
import { type Text, useText } from '../../../text/text.ts';
import { Badge, ErrorNote, Note, type Tone } from '../../../ui/feedback.tsx';
import { Button, ButtonLink } from '../../../ui/form/button.tsx';
import { useFaultWords } from '../../../ui/form/faults/words.ts';
import { useConfirm } from '../../../ui/overlay/confirm.tsx';
import { Progress } from '../../../ui/progress.tsx';
import { Time } from '../../../ui/small.tsx';
import { CancelChatImportDocument, type ChatImportRowFragment, UndoChatImportDocument } from './documents.ts';
import own from './imports.module.css';

type Omission = ChatImportRowFragment['omissions'][number];

const products = {
  CHATGPT: 'ChatGPT',
  CLAUDE: 'Claude',
  LIBRECHAT: 'LibreChat',
  OPEN_WEBUI: 'Open WebUI',
  PARLEY: 'Parley',
} as const;

const tones: Readonly<Record<ChatImportRowFragment['status'], Tone>> = {
  WAITING: 'accent',
  READING: 'accent',
  DONE: 'good',
  FAILED: 'bad',
  CANCELLED: 'neutral',
  UNDOING: 'accent',
  UNDONE: 'neutral',
};

/** A file that was imported: how far it is, what it brought, what was left out, and how it is undone. */
export function ImportRow({
  chatImport,
  mayWrite,
  onChanged,
}: {
  readonly chatImport: ChatImportRowFragment;
  readonly mayWrite: boolean;
  readonly onChanged: () => void;
}) {
  const { t } = useText();
  const { describeFault } = useFaultWords();
  const { status, filename, format, createdAt, agent, error, readCount, totalCount } = chatImport;
  const words = {
    WAITING: t('Waiting'),
    READING: t('Importing'),
    DONE: t('Imported'),
    FAILED: t('Failed'),
    CANCELLED: t('Cancelled'),
    UNDOING: t('Being undone'),
    UNDONE: t('Undone'),
  };
  const isUnderWay = status === 'WAITING' || status === 'READING';
  return (
    <li aria-label={filename}>
      <div className={own.row}>
        <div className={own.head}>
          <strong>{filename}</strong>
          <Badge tone={tones[status]}>{words[status]}</Badge>
        </div>
        <p className={styles.quiet}>
          {format === null ? null : `${products[format]} · `}
          {agent === null ? null : `${t('answered by {name}', { name: agent.name })} · `}
          <Time at={createdAt} />
        </p>
        {isUnderWay ? (
          <>
            <p role="status">
              {totalCount === null
                ? t('The file is being read.')
                : t('{read} of {total, plural, one {# chat} other {# chats}}', { read: readCount, total: totalCount })}
            </p>
            <Progress
              percent={totalCount === null || totalCount === 0 ? undefined : (readCount / totalCount) * 100}
              label={t('Importing {filename}', { filename })}
            />
          </>
        ) : (
          <Outcome chatImport={chatImport} />
        )}
        {error === null ? null : <Note tone="bad">{describeFault({ message: error })}</Note>}
        <Omissions omissions={chatImport.omissions} />
        {mayWrite ? <Acts chatImport={chatImport} isUnderWay={isUnderWay} onChanged={onChanged} /> : null}
      </div>
    </li>
  );
}

function Outcome({ chatImport }: { readonly chatImport: ChatImportRowFragment }) {
  const { t } = useText();
  const { status, importedCount, existingCount, messageCount, retainedCount } = chatImport;
  if (status === 'UNDOING') return <p role="status">{t('Its chats are being deleted.')}</p>;
  if (status === 'UNDONE') {
    return (
      <p>
        {retainedCount === 0
          ? t('Its chats are deleted.')
          : t('Its chats are deleted. {count, plural, one {# chat} other {# chats}} that you went on with stay.', {
              count: retainedCount,
            })}
      </p>
    );
  }
  return (
    <p>
      {t('{chats, plural, one {# chat} other {# chats}} with {messages, plural, one {# message} other {# messages}} imported.', {
        chats: importedCount,
        messages: messageCount,
      })}
      {existingCount === 0
        ? null
        : ` ${t('{count, plural, one {# chat was here already.} other {# chats were here already.}}', { count: existingCount })}`}
    </p>
  );
}

function Omissions({ omissions }: { readonly omissions: readonly Omission[] }) {
  const { t } = useText();
  if (omissions.length === 0) return null;
  return (
    <details>
      <summary>{t('What was left out')}</summary>
      <ul className={own.omissions}>
        {omissions.map((omission) => (
          <li key={omission.kind}>
            {nameOmission(omission, t)}
            {omission.chatNames.length === 0 ? null : (
              <span className={styles.quiet}> {t('In: {names}', { names: omission.chatNames.join(', ') })}</span>
            )}
          </li>
        ))}
      </ul>
    </details>
  );
}

function nameOmission({ kind, count }: Omission, t: Text['t']): string {
  const names: Readonly<Record<Omission['kind'], string>> = {
    IMAGES: t('{count, plural, one {# image} other {# images}}', { count }),
    FILES: t('{count, plural, one {# file} other {# files}}', { count }),
    TOOL_CALLS: t('{count, plural, one {# call of a tool} other {# calls of tools}}', { count }),
    THOUGHTS: t('{count, plural, one {# thought of a model} other {# thoughts of models}}', { count }),
    INSTRUCTIONS: t('{count, plural, one {# instruction} other {# instructions}}', { count }),
    SOURCES: t('{count, plural, one {# source that is not in the file} other {# sources that are not in the file}}', { count }),
    FAILED_ANSWERS: t('{count, plural, one {# answer that failed} other {# answers that failed}}', { count }),
    UNKNOWN_PARTS: t('{count, plural, one {# part} other {# parts}} of an unknown kind', { count }),
    CUT_MESSAGES: t('{count, plural, one {# message was} other {# messages were}} too long and cut', { count }),
    EMPTY_CHATS: t('{count, plural, one {# chat} other {# chats}} in which nothing was said', { count }),
    UNREADABLE_CHATS: t(
      '{count, plural, one {# entry that is no chat, or damaged} other {# entries that are no chats, or damaged}}',
      { count },
    ),
    LONG_CHATS: t('{count, plural, one {# chat that is too long} other {# chats that are too long}}', { count }),
    OLD_CHATS: t('{count, plural, one {# chat} other {# chats}} older than your organization keeps chats', { count }),
    FURTHER_CHATS: t('{count, plural, one {# chat} other {# chats}} beyond the first 50,000', { count }),
  };
  return names[kind];
}

function Acts({
  chatImport: { id, status, filename, importedCount, retainedCount },
  isUnderWay,
  onChanged,
}: {
  readonly chatImport: ChatImportRowFragment;
  readonly isUnderWay: boolean;
  readonly onChanged: () => void;
}) {
  const { t } = useText();
  const confirm = useConfirm();
  const cancel = useMutate(CancelChatImportDocument);
  const undo = useMutate(UndoChatImportDocument);
  const onCancel = async () => {
    if ((await cancel.run({ id })) !== undefined) onChanged();
  };
  const onUndo = async (includesContinued: boolean) => {
    const isWanted = await confirm({
      title: t('Delete the chats of this import?'),
      body: includesContinued
        ? t('The chats that you went on with are deleted too, with everything said since.')
        : t('Chats that you went on with stay. The same file can be imported again.'),
      action: t('Delete the chats'),
      isDanger: true,
    });
    if (isWanted && (await undo.run({ id, includesContinued })) !== undefined) onChanged();
  };
  const canUndo = !isUnderWay && status !== 'UNDOING' && importedCount > 0 && (status !== 'UNDONE' || retainedCount > 0);
  return (
    <>
      <ErrorNote error={cancel.error ?? undo.error} />
      {isUnderWay || canUndo ? (
        <div className={own.acts}>
          {isUnderWay ? (
            <Button
              size="small"
              isBusy={cancel.isBusy}
              aria-label={t('Cancel: {text}', { text: filename })}
              onClick={() => void onCancel()}
            >
              {t('Cancel')}
            </Button>
          ) : null}
          {canUndo && status !== 'UNDONE' ? (
            <ButtonLink size="small" href="/">
              {t('Open the chats')}
            </ButtonLink>
          ) : null}
          {canUndo ? (
            <Button
              size="small"
              variant="danger"
              isBusy={undo.isBusy}
              aria-label={t('Undo: {text}', { text: filename })}
              onClick={() => void onUndo(status === 'UNDONE')}
            >
              {status === 'UNDONE' ? t('Delete these too') : t('Undo')}
            </Button>
          ) : null}
        </div>
      ) : null}
    </>
  );
}
