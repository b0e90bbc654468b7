import type { UploadProgress } from '@parley/client';
import { Library, Link2, Unlink, Upload } from 'lucide-react';
import { type RefObject, useRef, useState } from 'react';
import { Link } from 'wouter';
import { readableError, run, upload } from '../../../../graphql/client.ts';
import { useList, useLiveReload } from '../../../../graphql/hooks.ts';
import { addToDraft } from '../../../../parts/drafts/change.ts';
import { useReadingFailures } from '../../../../parts/reading-failures.ts';
import { useSession } from '../../../../parts/session/session.tsx';
import { useText } from '../../../../text/text.ts';
import { Badge, EmptyState, ErrorNote, Note, ShowMore, Skeleton } from '../../../../ui/feedback.tsx';
import { Button, IconButton } from '../../../../ui/form/button.tsx';
import { useFaultWords } from '../../../../ui/form/faults/words.ts';
import { useConfirm } from '../../../../ui/overlay/confirm.tsx';
import { useErrorToast } from '../../../../ui/overlay/toasts.tsx';
import { Section } from '../../../../ui/page.tsx';
import { Progress } from '../../../../ui/progress.tsx';
import { Row, Rows } from '../parts/Rows.tsx';
import type { SectionProps } from '../section.ts';
import { AttachDialog } from './AttachDialog.tsx';
import {
  AddFileDocument,
  AgentKnowledgeChangedDocument,
  AgentKnowledgeDocument,
  type AgentSourceFragment,
  DetachSourceDocument,
} from './documents.ts';
import { stateName, stateTone } from './words.ts';

/** What the agent answers from. */
export function Knowledge({ agent, form, reload: reloadAgent }: SectionProps) {
  const { t } = useText();
  const session = useSession();
  const variables = { id: agent.id, after: null };
  const {
    error,
    isLoading,
    reload: reloadSources,
    pages,
    isEmpty,
  } = useList(AgentKnowledgeDocument, variables, (data) => data.agent?.sources);
  const reload = () => {
    reloadSources();
    // The editor counts them.
    reloadAgent();
  };
  useLiveReload(AgentKnowledgeChangedDocument, {}, reloadSources);
  const [isAttaching, setAttaching] = useState(false);
  const { input, send, sending, fault } = useFiles(agent.id, reload);
  const detach = useDetach(agent.id, reload);
  const mayAdd = !form.isReadOnly && session.may('DATA_SOURCES_WRITE');
  const acts = (
    <>
      <Button icon={<Upload size={16} aria-hidden />} isBusy={sending !== undefined} onClick={() => input.current?.click()}>
        {t('Add files')}
      </Button>
      <Button icon={<Link2 size={16} aria-hidden />} onClick={() => setAttaching(true)}>
        {t('Attach knowledge')}
      </Button>
    </>
  );
  return (
    <Section
      title={t('Knowledge')}
      lead={t('Documents, sites and wikis that the agent searches and cites.')}
      actions={mayAdd && pages.nodes.length > 0 ? acts : undefined}
    >
      <FileInput ref={input} onFiles={(files) => void send(files)} />
      <ErrorNote error={error} onRetry={reload} />
      {sending === undefined ? null : <Progress percent={sending.percent} label={t('{name} is sent', { name: sending.name })} />}
      {fault === undefined ? null : <Note tone="bad">{fault}</Note>}
      {isLoading ? <Skeleton /> : null}
      {isEmpty ? (
        <EmptyState
          icon={<Library size={26} aria-hidden />}
          title={t('It has no knowledge yet')}
          action={mayAdd ? <div>{acts}</div> : undefined}
        >
          {t('With knowledge the agent answers from your documents and names the passages.')}
        </EmptyState>
      ) : null}
      {pages.nodes.length === 0 ? null : (
        <Rows label={t('Knowledge')}>
          {pages.nodes.map((source) => (
            <SourceRow key={source.id} source={source} onDetach={form.isReadOnly ? undefined : () => void detach(source)} />
          ))}
        </Rows>
      )}
      <ShowMore pages={pages} />
      {mayAdd ? (
        <p>
          <Link href={`/knowledge?new&agent=${agent.id}`}>{t('Add a site, a wiki or a drive')}</Link>
        </p>
      ) : null}
      {isAttaching ? (
        <AttachDialog
          agentId={agent.id}
          attached={pages.nodes.map(({ id }) => id)}
          onClose={() => setAttaching(false)}
          onAttached={reload}
        />
      ) : null}
    </Section>
  );
}

function FileInput({
  ref,
  onFiles,
}: {
  readonly ref: RefObject<HTMLInputElement | null>;
  readonly onFiles: (files: readonly File[]) => void;
}) {
  const { t } = useText();
  return (
    <input
      ref={ref}
      type="file"
      multiple
      hidden
      aria-label={t('Files')}
      onChange={(event) => {
        onFiles([...(event.target.files ?? [])]);
        event.target.value = '';
      }}
    />
  );
}

/** Asks before it takes a source from the agent. */
function useDetach(agentId: string, onDetached: () => void) {
  const { t } = useText();
  const confirm = useConfirm();
  const sayError = useErrorToast();
  const detach = async ({ id, name }: AgentSourceFragment) => {
    const body = t('The agent does not search it any more. The knowledge itself stays, for other agents too.');
    if (!(await confirm({ title: t('Detach {name}?', { name }), body, action: t('Detach') }))) return;
    try {
      await addToDraft(agentId, (expectedDraft) => run(DetachSourceDocument, { agentId, dataSourceId: id, expectedDraft }));
      onDetached();
    } catch (cause) {
      sayError(cause);
    }
  };

  return detach;
}

function SourceRow({
  source,
  onDetach,
}: {
  readonly source: AgentSourceFragment;
  /** Undefined: the reader may not. */
  readonly onDetach: (() => void) | undefined;
}) {
  const { t } = useText();
  const { indexStatus, indexPercentage, statistics } = source;
  const failure = useReadingFailures()(source);
  const isWorking = stateTone(indexStatus) === 'accent' || (indexStatus === 'INDEXED' && indexPercentage < 100);
  return (
    <Row
      title={<Link href={`/knowledge/${source.id}`}>{source.name}</Link>}
      badges={<Badge tone={stateTone(indexStatus)}>{stateName(t, indexStatus)}</Badge>}
      actions={
        onDetach === undefined ? undefined : (
          <IconButton label={t('Detach {name}', { name: source.name })} onClick={onDetach}>
            <Unlink size={16} aria-hidden />
          </IconButton>
        )
      }
      note={
        <>
          {t('{done} of {total, plural, one {# document} other {# documents}} ready', {
            done: statistics.doneCount,
            total: statistics.totalCount,
          })}
          {statistics.failedCount === 0 ? null : ` · ${t('{count} failed', { count: statistics.failedCount })}`}
          {failure === undefined ? null : <p>{failure}</p>}
        </>
      }
    >
      {isWorking ? <Progress percent={indexPercentage} label={t('Progress of {name}', { name: source.name })} /> : null}
    </Row>
  );
}

/** Sends files one after the other, each as a source of the agent. */
function useFiles(agentId: string, onSent: () => void) {
  const { t } = useText();
  const { describeError } = useFaultWords();
  const input = useRef<HTMLInputElement>(null);
  const [sending, setSending] = useState<{ readonly name: string; readonly percent: number }>();
  const [fault, setFault] = useState<string>();
  const send = async (files: readonly File[]) => {
    setFault(undefined);
    for (const file of files) {
      const { name } = file;
      setSending({ name, percent: 0 });
      try {
        const onProgress = ({ sentBytes, totalBytes }: UploadProgress) =>
          setSending({ name, percent: (100 * sentBytes) / Math.max(totalBytes, 1) });
        await upload(AddFileDocument, { agentId, file }, { onProgress });
      } catch (cause) {
        setFault(t('{field}: {fault}', { field: name, fault: describeError(readableError(cause)).join(' ') }));
      }
      onSent();
    }
    setSending(undefined);
  };
  return { input, send, sending, fault };
}
