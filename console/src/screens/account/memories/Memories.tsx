import { Brain, Pencil, Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useList, useLiveReload, useMutate } from '../../../graphql/hooks.ts';
import { PeoplePage } from '../../../parts/people/PeoplePage.tsx';
import styles from '../../../parts/people/people.module.css';
import { useSession } from '../../../parts/session/session.tsx';
import { useText } from '../../../text/text.ts';
import { Badge, EmptyState, ErrorNote, ShowMore, Skeleton } from '../../../ui/feedback.tsx';
import { Button, IconButton } from '../../../ui/form/button.tsx';
import { Select } from '../../../ui/form/field.tsx';
import { useConfirm } from '../../../ui/overlay/confirm.tsx';
import { useToast } from '../../../ui/overlay/toasts.tsx';
import { Toolbar } from '../../../ui/page.tsx';
import { Time } from '../../../ui/small.tsx';
import {
  DeleteMemoriesDocument,
  DeleteMemoryDocument,
  MemoriesChangedDocument,
  MemoriesDocument,
  type MemoryRowFragment,
} from './documents.ts';
import { MemoryDialog } from './MemoryDialog.tsx';

const scopes = ['', 'USER', 'AGENT'] as const;

/** What agents remember of the reader, to correct and to delete. */
export function Memories() {
  const { t } = useText();
  const { viewer } = useSession();
  const confirm = useConfirm();
  const say = useToast();
  const [scope, setScope] = useState<(typeof scopes)[number]>('');
  const [edited, setEdited] = useState<MemoryRowFragment | 'new'>();
  const variables = { scope: scope === '' ? null : scope };
  const { error, isLoading, reload, pages, isEmpty } = useList(MemoriesDocument, variables, (data) => data.memories);
  useLiveReload(MemoriesChangedDocument, {}, reload);
  const forget = useMutate(DeleteMemoriesDocument);
  const mayWrite = viewer.role !== 'AUDITOR';
  const onForget = async () => {
    const isConfirmed = await confirm({
      title: scope === '' ? t('Delete all memories?') : t('Delete all memories of this kind?'),
      body: t('Agents know nothing of it any more. This cannot be undone.'),
      action: t('Delete all'),
      isDanger: true,
    });
    if (!isConfirmed) return;
    const result = await forget.run(variables);
    if (result === undefined) return;
    say(t('{count, plural, one {# memory is} other {# memories are}} deleted.', { count: result.deleteMemories.deletedCount }));
    reload();
  };
  const add = mayWrite ? (
    <Button icon={<Plus size={17} aria-hidden />} onClick={() => setEdited('new')}>
      {t('Add a memory')}
    </Button>
  ) : undefined;
  return (
    <PeoplePage
      title={t('Memories')}
      lead={t('What agents remember of you from one chat to the next. Only you see it.')}
      actions={isEmpty && scope === '' ? undefined : add}
    >
      <Toolbar>
        <Select
          aria-label={t('Which memories')}
          value={scope}
          onChange={(event) => setScope(scopes.find((each) => each === event.target.value) ?? '')}
        >
          <option value="">{t('All memories')}</option>
          <option value="USER">{t('For every agent')}</option>
          <option value="AGENT">{t('For one agent')}</option>
        </Select>
        {pages.nodes.length > 0 && mayWrite ? (
          <Button variant="danger" isBusy={forget.isBusy} onClick={() => void onForget()}>
            {t('Delete all')}
          </Button>
        ) : null}
      </Toolbar>
      <ErrorNote error={error ?? forget.error} onRetry={reload} />
      {isLoading ? <Skeleton lines={5} /> : null}
      {isEmpty ? (
        <EmptyState icon={<Brain size={26} aria-hidden />} title={t('Nothing is remembered')} action={add}>
          {t(
            'Agents with the memory tool note what you tell them to, such as how you like your answers. You can add it here too.',
          )}
        </EmptyState>
      ) : (
        <ul className={styles.rows}>
          {pages.nodes.map((memory) => (
            <MemoryRow key={memory.id} memory={memory} mayWrite={mayWrite} onEdit={() => setEdited(memory)} onChanged={reload} />
          ))}
        </ul>
      )}
      <ShowMore pages={pages} />
      {edited === undefined ? null : (
        <MemoryDialog memory={edited === 'new' ? undefined : edited} onClose={() => setEdited(undefined)} onSaved={reload} />
      )}
    </PeoplePage>
  );
}

function MemoryRow({
  memory: { id, text, key, agent, scope, updatedAt },
  mayWrite,
  onEdit,
  onChanged,
}: {
  readonly memory: MemoryRowFragment;
  readonly mayWrite: boolean;
  readonly onEdit: () => void;
  readonly onChanged: () => void;
}) {
  const { t } = useText();
  const { run: remove, isBusy, error } = useMutate(DeleteMemoryDocument);
  const short = text.slice(0, 40);
  const onDelete = async () => {
    if ((await remove({ id })) !== undefined) onChanged();
  };
  return (
    <li>
      <div className={styles.grow}>
        <p>{text}</p>
        <p className={styles.quiet}>
          {key === null ? null : <Badge>{key}</Badge>}{' '}
          {scope === 'USER' ? t('for every agent') : (agent?.name ?? t('for one agent'))} · <Time at={updatedAt} />
        </p>
        <ErrorNote error={error} />
      </div>
      {mayWrite ? (
        <span className={styles.end}>
          <IconButton label={t('Edit: {text}', { text: short })} onClick={onEdit}>
            <Pencil size={16} aria-hidden />
          </IconButton>
          <IconButton label={t('Delete: {text}', { text: short })} disabled={isBusy} onClick={() => void onDelete()}>
            <Trash2 size={16} aria-hidden />
          </IconButton>
        </span>
      ) : null}
    </li>
  );
}
