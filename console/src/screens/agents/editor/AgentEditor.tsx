import { Bot, MessageSquare, PanelRightClose, PanelRightOpen } from 'lucide-react';
import { Suspense, useState } from 'react';
import { useLocation } from 'wouter';
import { useLive, usePage } from '../../../graphql/hooks.ts';
import { useSession } from '../../../parts/session/session.tsx';
import { useText } from '../../../text/text.ts';
import { Badge, EmptyState, ErrorNote, Note, Skeleton } from '../../../ui/feedback.tsx';
import { Button, ButtonLink } from '../../../ui/form/button.tsx';
import { useLeaveGuard } from '../../../ui/form/leave-guard.ts';
import { useConfirm } from '../../../ui/overlay/confirm.tsx';
import { Page, useTitle } from '../../../ui/page.tsx';
import { Avatar } from '../../../ui/small.tsx';
import { AgentMenu } from '../list/AgentMenu.tsx';
import { visibilityName } from '../words.ts';
import { AgentChangedDocument, AgentEditorDocument, type AgentEditorQuery } from './documents.ts';
import { SaveBar } from './draft/SaveBar.tsx';
import { useDraft } from './draft/use-draft.ts';
import styles from './editor.module.css';
import { SectionNav } from './parts/SectionNav.tsx';
import { Preview } from './preview/Preview.tsx';
import type { EditorAgent } from './section.ts';
import { findSection, type SectionName } from './section.ts';
import { sectionsFor } from './sections.tsx';
import { DraftNote } from './versions/DraftNote.tsx';

/** An agent with its sections, each at an address of its own, and a chat beside them to try it. */
export function AgentEditor({
  id,
  section,
  part,
}: {
  readonly id: string;
  readonly section: string | undefined;
  readonly part: string | undefined;
}) {
  const { t } = useText();
  const { data, error, reload } = usePage(AgentEditorDocument, { id });
  useLive(AgentChangedDocument, {}, ({ agentsChanged }) => agentsChanged.id === id && reload(), { onBegin: reload });
  if (data === undefined) {
    return (
      <Page title={error === undefined ? '' : t('Agent')}>
        <ErrorNote error={error} onRetry={reload} />
        {error === undefined ? <Skeleton lines={8} /> : null}
      </Page>
    );
  }
  if (data.agent === null) {
    return (
      <Page title={t('Agent')}>
        <EmptyState
          icon={<Bot size={26} aria-hidden />}
          title={t('There is no such agent')}
          action={<ButtonLink href="/agents">{t('To the agents')}</ButtonLink>}
        >
          {t('It is deleted, or it is not shared with you any more.')}
        </EmptyState>
      </Page>
    );
  }
  return <Editor agent={data.agent} models={data.models} section={findSection(section)} part={part} reload={reload} />;
}

const previewStoredAs = 'parley.agents.preview';

function Editor({
  agent,
  models,
  section,
  part,
  reload,
}: {
  readonly agent: EditorAgent;
  readonly models: AgentEditorQuery['models'];
  readonly section: SectionName;
  readonly part: string | undefined;
  readonly reload: () => void;
}) {
  const { t } = useText();
  const session = useSession();
  const confirm = useConfirm();
  const [, go] = useLocation();
  const mayEdit = agent.canEdit && session.may('AGENTS_WRITE');
  const form = useDraft(agent, !mayEdit);
  const [hasPreview, setPreview] = useState(() => localStorage.getItem(previewStoredAs) !== 'closed' && innerWidth > 1100);
  const isDirty = form.changed.length > 0;
  useTitle(agent.name);
  useLeaveGuard(
    isDirty,
    (path) => path === `/agents/${agent.id}` || path.startsWith(`/agents/${agent.id}/`),
    () =>
      confirm({
        title: t('Leave without saving?'),
        body: t('What you changed of {name} is not saved.', { name: agent.name }),
        action: t('Leave without saving'),
        isDanger: true,
      }),
  );
  const togglePreview = () => {
    localStorage.setItem(previewStoredAs, hasPreview ? 'closed' : 'open');
    setPreview(!hasPreview);
  };
  const sections = sectionsFor(t, agent, session);
  const current = sections.find(({ name }) => name === section) ?? sections[0];
  const Section = current?.component;
  return (
    <div className={styles.editor} data-preview={hasPreview}>
      <div className={styles.main}>
        <EditorHead agent={agent} hasPreview={hasPreview} onTogglePreview={togglePreview} onRemoved={() => go('/agents')} />
        {mayEdit ? null : <Note>{t('You may use this agent. Its owner and its editors change it.')}</Note>}
        {mayEdit ? <DraftNote agent={agent} isDirty={isDirty} onChange={reload} /> : null}
        <div className={styles.body}>
          <SectionNav agentId={agent.id} sections={sections} current={current?.name ?? 'basics'} />
          <div className={styles.section}>
            <Suspense fallback={<Skeleton lines={6} />}>
              {Section === undefined ? null : <Section agent={agent} form={form} models={models} part={part} reload={reload} />}
            </Suspense>
          </div>
        </div>
        <SaveBar form={form} />
      </div>
      {hasPreview && session.may('CHATS_WRITE') ? <Preview agent={agent} isDirty={isDirty} onClose={togglePreview} /> : null}
    </div>
  );
}

function EditorHead({
  agent,
  hasPreview,
  onTogglePreview,
  onRemoved,
}: {
  readonly agent: EditorAgent;
  readonly hasPreview: boolean;
  readonly onTogglePreview: () => void;
  readonly onRemoved: () => void;
}) {
  const { t } = useText();
  const session = useSession();
  return (
    <header className={styles.head}>
      <Avatar name={agent.name} pictureUrl={agent.pictureUrl} size={40} />
      <div className={styles.title}>
        <h1>{agent.name}</h1>
        <p className={styles.facts}>
          <Badge>{visibilityName(t, agent.visibility)}</Badge>
          {agent.isApprovedByOrg ? <Badge tone="good">{t('Approved')}</Badge> : null}
          <span>{agent.owner === null ? t('A former member') : t('by {name}', { name: agent.owner.name })}</span>
        </p>
      </div>
      <div className={styles.acts}>
        {session.may('CHATS_WRITE') ? (
          <>
            <Button
              icon={hasPreview ? <PanelRightClose size={17} aria-hidden /> : <PanelRightOpen size={17} aria-hidden />}
              aria-expanded={hasPreview}
              onClick={onTogglePreview}
            >
              {t('Preview')}
            </Button>
            <ButtonLink href={`/?agent=${agent.id}`} icon={<MessageSquare size={16} aria-hidden />}>
              {t('Ask')}
            </ButtonLink>
          </>
        ) : null}
        <AgentMenu agent={agent} onRemoved={onRemoved} />
      </div>
    </header>
  );
}
