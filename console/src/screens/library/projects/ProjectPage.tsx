import { FolderOpen } from 'lucide-react';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { useList, useLiveReload, useMutate } from '../../../graphql/hooks.ts';
import { useSession } from '../../../parts/session/session.tsx';
import { useText } from '../../../text/text.ts';
import { EmptyState, ErrorNote, ShowMore, Skeleton } from '../../../ui/feedback.tsx';
import { Button, ButtonLink } from '../../../ui/form/button.tsx';
import { useConfirm } from '../../../ui/overlay/confirm.tsx';
import { Page, Section } from '../../../ui/page.tsx';
import { Avatar, Time } from '../../../ui/small.tsx';
import { LibraryPage } from '../LibraryPage.tsx';
import styles from '../library.module.css';
import {
  DeleteProjectDocument,
  ProjectChatsChangedDocument,
  ProjectPageDocument,
  type ProjectPartsFragment,
} from './documents.ts';
import { ProjectForm } from './ProjectForm.tsx';

type Project = ProjectPartsFragment;

/** A project: where its chats begin, the reader's chats in it, and what they are told. */
export function ProjectPage({ id }: { readonly id: string }) {
  const { t } = useText();
  const { data, error, isLoading, reload, pages } = useList(ProjectPageDocument, { id }, (data) => data.project?.chats);
  useLiveReload(ProjectChatsChangedDocument, {}, reload);
  const [isEditing, setEditing] = useState(false);
  const project = data?.project ?? undefined;
  if (isLoading)
    return (
      <Page title="">
        <Skeleton lines={6} />
      </Page>
    );
  if (project === undefined) {
    return (
      <LibraryPage current="/projects" title={t('Projects')}>
        {error === undefined ? (
          <EmptyState
            icon={<FolderOpen size={26} aria-hidden />}
            title={t('This project is not there')}
            action={<ButtonLink href="/projects">{t('All projects')}</ButtonLink>}
          >
            {t('It was deleted, or it is not shared with you any more. Your chats in it are in the list of all chats.')}
          </EmptyState>
        ) : (
          <ErrorNote error={error} onRetry={reload} />
        )}
      </LibraryPage>
    );
  }
  return (
    <LibraryPage
      current="/projects"
      title={project.name}
      lead={project.canEdit ? undefined : t('Shared with you by {name}', { name: project.owner?.name ?? t('somebody who left') })}
      actions={<Acts project={project} onEdit={() => setEditing(true)} />}
    >
      <ErrorNote error={error} onRetry={reload} />
      <Beginnings project={project} />
      <Section title={t('Your chats')} lead={t('Each person’s chats are the person’s own.')}>
        {pages.nodes.length === 0 ? (
          <p className={styles.facts}>{t('No chats yet')}</p>
        ) : (
          <ul className={styles.rows} aria-label={t('Your chats')}>
            {pages.nodes.map((chat) => (
              <li key={chat.id}>
                <div className={styles.grow}>
                  <Link href={`/chats/${chat.id}`}>{chat.name ?? t('New chat')}</Link>
                  <span className={styles.facts}>
                    <Time at={chat.updatedAt} />
                  </span>
                </div>
              </li>
            ))}
          </ul>
        )}
        <ShowMore pages={pages} />
      </Section>
      <Parts project={project} />
      {isEditing ? <ProjectForm project={project} onClose={() => setEditing(false)} onSaved={reload} /> : null}
    </LibraryPage>
  );
}

function Acts({ project, onEdit }: { readonly project: Project; readonly onEdit: () => void }) {
  const { t } = useText();
  const { may } = useSession();
  const confirm = useConfirm();
  const [, go] = useLocation();
  const { run: remove, isBusy, error } = useMutate(DeleteProjectDocument);
  const onDelete = async () => {
    const isWanted = await confirm({
      title: t('Delete this project?'),
      body: t('Its chats stay with their users, in no project.'),
      action: t('Delete'),
      isDanger: true,
    });
    if (isWanted && (await remove({ id: project.id })) !== undefined) go('/projects');
  };
  return (
    <>
      {may('CHATS_WRITE') ? (
        <ButtonLink variant="primary" href={`/?project=${project.id}`}>
          {t('New chat')}
        </ButtonLink>
      ) : null}
      {project.canEdit && may('CHATS_WRITE') ? (
        <>
          <Button onClick={onEdit}>{t('Edit')}</Button>
          <Button variant="danger" isBusy={isBusy} onClick={() => void onDelete()}>
            {t('Delete')}
          </Button>
        </>
      ) : null}
      <ErrorNote error={error} />
    </>
  );
}

/** The agents that the project offers first. */
function Beginnings({ project }: { readonly project: Project }) {
  const { t } = useText();
  const agents = project.agents ?? [];
  if (agents.length === 0) return null;
  return (
    <Section title={t('Ask')}>
      <ul className={styles.rows} aria-label={t('Agents of the project')}>
        {agents.map(({ id, name, description, pictureUrl }) => (
          <li key={id}>
            <Avatar name={name} pictureUrl={pictureUrl} />
            <div className={styles.grow}>
              <Link href={`/?project=${project.id}&agent=${id}`}>{name}</Link>
              <span className={styles.facts}>{description}</span>
            </div>
          </li>
        ))}
      </ul>
    </Section>
  );
}

/** What its chats are told and searched, and who sees it. */
function Parts({ project }: { readonly project: Project }) {
  const { t } = useText();
  const names = (things: readonly { readonly id: string; readonly name: string }[] | null, nothing: string) =>
    (things ?? []).length === 0 ? (
      <p className={styles.facts}>{nothing}</p>
    ) : (
      <ul>
        {things?.map(({ id, name }) => (
          <li key={id}>{name}</li>
        ))}
      </ul>
    );
  return (
    <>
      <Section title={t('Instructions')}>
        {project.instructions === '' ? (
          <p className={styles.facts}>{t('None.')}</p>
        ) : (
          <p className={styles.instructions}>{project.instructions}</p>
        )}
      </Section>
      <Section title={t('Knowledge')} lead={t('Searched in its chats, for who may read it.')}>
        {names(project.dataSources, t('None that you may read.'))}
      </Section>
      <Section title={t('Shared with')}>{names(project.groups, t('Nobody: only its owner sees it.'))}</Section>
    </>
  );
}
