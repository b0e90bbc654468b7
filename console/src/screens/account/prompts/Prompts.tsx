import { Pencil, Plus, SquareSlash, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useList, useMutate } from '../../../graphql/hooks.ts';
import { PeoplePage } from '../../../parts/people/PeoplePage.tsx';
import styles from '../../../parts/people/people.module.css';
import { useSession } from '../../../parts/session/session.tsx';
import { useText } from '../../../text/text.ts';
import { Badge, EmptyState, ErrorNote, ShowMore, Skeleton } from '../../../ui/feedback.tsx';
import { Button, IconButton } from '../../../ui/form/button.tsx';
import { SearchInput } from '../../../ui/form/field.tsx';
import { useConfirm } from '../../../ui/overlay/confirm.tsx';
import { Toolbar } from '../../../ui/page.tsx';
import { useDelayed } from '../../../ui/use-delayed.ts';
import { DeletePromptDocument, type PromptRowFragment, PromptsDocument } from './documents.ts';
import { PromptDialog } from './PromptDialog.tsx';

/** Texts that the reader keeps for the box of a chat, and those that others share. */
export function Prompts() {
  const { t } = useText();
  const { viewer } = useSession();
  const [typed, setTyped] = useState('');
  const search = useDelayed(typed.trim()) || null;
  const [edited, setEdited] = useState<PromptRowFragment | 'new'>();
  const { error, isLoading, reload, pages, isEmpty } = useList(PromptsDocument, { search }, (data) => data.prompts);
  const mayWrite = viewer.role !== 'AUDITOR';
  const add = mayWrite ? (
    <Button icon={<Plus size={17} aria-hidden />} onClick={() => setEdited('new')}>
      {t('Add a prompt')}
    </Button>
  ) : undefined;
  return (
    <PeoplePage
      title={t('Prompts')}
      lead={t('Texts that you use again. Type / in the box of a chat to find one.')}
      actions={isEmpty && search === null ? undefined : add}
    >
      {isEmpty && search === null ? null : (
        <Toolbar>
          <SearchInput label={t('Search prompts')} value={typed} onChange={setTyped} />
        </Toolbar>
      )}
      <ErrorNote error={error} onRetry={reload} />
      {isLoading ? <Skeleton lines={5} /> : null}
      {isEmpty ? (
        search === null ? (
          <EmptyState icon={<SquareSlash size={26} aria-hidden />} title={t('No prompts yet')} action={add}>
            {t(
              'A prompt may have variables, such as {example}, which are asked for when you use it. Share it with groups, or with everybody here.',
              {
                example: '{{customer}}',
              },
            )}
          </EmptyState>
        ) : (
          <p>{t('Nothing found')}</p>
        )
      ) : (
        <ul className={styles.rows}>
          {pages.nodes.map((prompt) => (
            <PromptRow key={prompt.id} prompt={prompt} mayWrite={mayWrite} onEdit={() => setEdited(prompt)} onChanged={reload} />
          ))}
        </ul>
      )}
      <ShowMore pages={pages} />
      {edited === undefined ? null : (
        <PromptDialog prompt={edited === 'new' ? undefined : edited} onClose={() => setEdited(undefined)} onSaved={reload} />
      )}
    </PeoplePage>
  );
}

function PromptRow({
  prompt: { id, name, command, text, visibility, canEdit, user, groups, variables },
  mayWrite,
  onEdit,
  onChanged,
}: {
  readonly prompt: PromptRowFragment;
  readonly mayWrite: boolean;
  readonly onEdit: () => void;
  readonly onChanged: () => void;
}) {
  const { t } = useText();
  const { may } = useSession();
  const confirm = useConfirm();
  const { run: remove, isBusy, error } = useMutate(DeletePromptDocument);
  const onDelete = async () => {
    const isWanted = await confirm({
      title: t('Delete the prompt {name}?', { name }),
      body: visibility === 'PRIVATE' ? t('This cannot be undone.') : t('Nobody finds it any more. This cannot be undone.'),
      action: t('Delete'),
      isDanger: true,
    });
    if (isWanted && (await remove({ id })) !== undefined) onChanged();
  };
  const shared = { PRIVATE: undefined, GROUP: groups.map((group) => group.name).join(', '), ORGANIZATION: t('Everybody') }[
    visibility
  ];
  return (
    <li aria-label={name}>
      <div className={styles.grow}>
        <p>
          <strong>{name}</strong> <Badge>/{command}</Badge> {shared === undefined ? null : <Badge tone="accent">{shared}</Badge>}
        </p>
        <p className={styles.quiet}>{text.length > 160 ? `${text.slice(0, 160)}…` : text}</p>
        <p className={styles.quiet}>
          {variables.length === 0
            ? null
            : t('Asks for: {names}', { names: variables.map((variable) => variable.name).join(', ') })}
          {canEdit || user === null ? null : ` ${t('By {name}', { name: user.name })}`}
        </p>
        <ErrorNote error={error} />
      </div>
      {mayWrite && (canEdit || may('ADMIN_WRITE')) ? (
        <span className={styles.end}>
          {canEdit ? (
            <IconButton label={t('Edit: {text}', { text: name })} onClick={onEdit}>
              <Pencil size={16} aria-hidden />
            </IconButton>
          ) : null}
          <IconButton label={t('Delete: {text}', { text: name })} disabled={isBusy} onClick={() => void onDelete()}>
            <Trash2 size={16} aria-hidden />
          </IconButton>
        </span>
      ) : null}
    </li>
  );
}
