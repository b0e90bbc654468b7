import { FolderOpen, Plus } from 'lucide-react';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { useList, useMutate } from '../../../graphql/hooks.ts';
import { useSession } from '../../../parts/session/session.tsx';
import { useText } from '../../../text/text.ts';
import { Badge, EmptyState, ErrorNote, ShowMore, Skeleton } from '../../../ui/feedback.tsx';
import { Button } from '../../../ui/form/button.tsx';
import { errorBeside, findFault } from '../../../ui/form/faults/find.ts';
import { TextAreaField, TextField } from '../../../ui/form/fields.tsx';
import { FormDialog } from '../../../ui/overlay/form-dialog.tsx';
import { Time } from '../../../ui/small.tsx';
import { LibraryPage } from '../LibraryPage.tsx';
import styles from '../library.module.css';
import { CreateProjectDocument, ProjectsDocument } from './documents.ts';

/** The reader's projects, and those shared with its groups. */
export function ProjectsScreen() {
  const { t } = useText();
  const { may, viewer } = useSession();
  const [isAdding, setAdding] = useState(false);
  const { error, isLoading, reload, pages, isEmpty } = useList(ProjectsDocument, {}, (data) => data.projects);
  const add = may('CHATS_WRITE') ? (
    <Button variant="primary" icon={<Plus size={17} aria-hidden />} onClick={() => setAdding(true)}>
      {t('New project')}
    </Button>
  ) : undefined;
  return (
    <LibraryPage
      current="/projects"
      title={t('Projects')}
      lead={t('Instructions, knowledge and agents that several chats have in common.')}
      actions={isEmpty ? undefined : add}
    >
      <ErrorNote error={error} onRetry={reload} />
      {isLoading ? <Skeleton lines={5} /> : null}
      {isEmpty ? (
        <EmptyState icon={<FolderOpen size={26} aria-hidden />} title={t('No projects yet')} action={add}>
          {t('A project keeps the chats about one thing together, and tells each of them the same.')}
        </EmptyState>
      ) : (
        <ul className={styles.rows} aria-label={t('Projects')}>
          {pages.nodes.map(({ id, name, instructions, owner, groups, chats, updatedAt }) => (
            <li key={id}>
              <div className={styles.grow}>
                <Link href={`/projects/${id}`}>{name}</Link>
                <span className={styles.facts}>
                  <span>
                    {t('{count, plural, one {# chat of yours} other {# chats of yours}}', {
                      count: chats.totalCount ?? 0,
                    })}
                  </span>
                  <Time at={updatedAt} />
                  {owner === null || owner.id === viewer.user?.id ? null : <span>{t('by {name}', { name: owner.name })}</span>}
                  {(groups ?? []).map((group) => (
                    <Badge key={group.id}>{group.name}</Badge>
                  ))}
                  {instructions === '' ? <span>{t('without instructions')}</span> : null}
                </span>
              </div>
            </li>
          ))}
        </ul>
      )}
      <ShowMore pages={pages} />
      {isAdding ? <NewProject onClose={() => setAdding(false)} /> : null}
    </LibraryPage>
  );
}

function NewProject({ onClose }: { readonly onClose: () => void }) {
  const { t } = useText();
  const [, go] = useLocation();
  const [name, setName] = useState('');
  const [instructions, setInstructions] = useState('');
  const { run: create, isBusy, error } = useMutate(CreateProjectDocument);
  const save = async () => {
    const result = await create({ input: { name: name.trim(), instructions: instructions.trim() } });
    if (result !== undefined) go(`/projects/${result.createProject.id}`);
  };
  return (
    <FormDialog
      title={t('New project')}
      onClose={onClose}
      onSubmit={() => void save()}
      action={t('Make the project')}
      isDirty={name !== '' || instructions !== ''}
      isBusy={isBusy}
      isBlocked={name.trim() === ''}
    >
      <TextField label={t('Name')} error={findFault(error, 'name')} value={name} maxLength={200} onChange={setName} />
      <TextAreaField
        label={t('Instructions')}
        hint={t('What agents are told in each chat of it, behind their own instructions.')}
        error={findFault(error, 'instructions')}
        value={instructions}
        maxLength={20_000}
        onChange={setInstructions}
      />
      <ErrorNote error={errorBeside(error, ['name', 'instructions'])} />
    </FormDialog>
  );
}
