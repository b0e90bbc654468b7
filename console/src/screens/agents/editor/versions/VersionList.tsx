import { useState } from 'react';
import { run } from '../../../../graphql/client.ts';
import { useMorePages, useMutate, usePage } from '../../../../graphql/hooks.ts';
import { useText } from '../../../../text/text.ts';
import { ErrorNote, ShowMore, Skeleton } from '../../../../ui/feedback.tsx';
import { Button } from '../../../../ui/form/button.tsx';
import { Switch } from '../../../../ui/form/field.tsx';
import { useConfirm } from '../../../../ui/overlay/confirm.tsx';
import { Section } from '../../../../ui/page.tsx';
import { Rows } from '../parts/Rows.tsx';
import type { EditorAgent } from '../section.ts';
import { CanaryCard } from './CanaryCard.tsx';
import { CanaryDialog } from './CanaryDialog.tsx';
import {
  type AgentVersionRowFragment,
  AgentVersionsDocument,
  DiscardAgentDraftDocument,
  MoreAgentVersionsDocument,
  SetAgentPublishingDocument,
} from './documents.ts';
import { RollbackDialog } from './RollbackDialog.tsx';
import { VersionFigures } from './VersionFigures.tsx';
import { VersionRow } from './VersionRow.tsx';
import styles from './versions.module.css';

interface Props {
  readonly agent: EditorAgent;
  readonly isReadOnly: boolean;
  /** Something of the agent is another now. */
  readonly onChange: () => void;
}

/** All versions, newest first, which of them people get, and how each does. */
export function VersionList({ agent, isReadOnly, onChange }: Props) {
  const { t } = useText();
  const { data, error, isLoading, reload } = usePage(AgentVersionsDocument, { id: agent.id });
  const first = data?.agentVersions;
  const pages = useMorePages(first === undefined ? undefined : { ...first, nodes: first.nodes.map(withId) }, async (after) => {
    const { agentVersions } = await run(MoreAgentVersionsDocument, { id: agent.id, after });
    return { ...agentVersions, nodes: agentVersions.nodes.map(withId) };
  });
  const [target, setTarget] = useState<{ readonly act: 'rollback' | 'canary'; readonly version: number | undefined }>();
  const changed = () => {
    setTarget(undefined);
    reload();
    onChange();
  };
  return (
    <div className={styles.screen}>
      <Section
        title={t('Versions')}
        lead={t(
          'A version keeps what answers: instructions, model, tools, skills, flows, inputs and the list of sources. It never changes.',
        )}
      >
        {isReadOnly ? null : <Publishing agent={agent} onChange={changed} />}
        <ErrorNote error={error} onRetry={reload} />
        {agent.canary === null || data === undefined ? null : (
          <CanaryCard
            agent={agent}
            startedAt={data.agent?.canary?.startedAt}
            currency={data.viewer.costCurrency}
            isReadOnly={isReadOnly}
            onChangeShare={() => setTarget({ act: 'canary', version: agent.canary?.version })}
            onChange={changed}
          />
        )}
        {isReadOnly || agent.draft?.isChanged !== true ? null : (
          <DraftActs agent={agent} onCanary={() => setTarget({ act: 'canary', version: undefined })} onChange={changed} />
        )}
        {isLoading ? <Skeleton lines={5} /> : null}
        {pages.nodes.length === 0 ? null : (
          <Rows label={t('Versions')}>
            {pages.nodes.map((version) => (
              <VersionRow
                key={version.id}
                agent={agent}
                version={version}
                isReadOnly={isReadOnly}
                onRollback={() => setTarget({ act: 'rollback', version: version.number })}
                onCanary={() => setTarget({ act: 'canary', version: version.number })}
              />
            ))}
          </Rows>
        )}
        <ShowMore pages={pages} />
      </Section>
      {data === undefined ? null : <VersionFigures agent={agent} currency={data.viewer.costCurrency} />}
      {target?.act === 'rollback' && target.version !== undefined ? (
        <RollbackDialog agent={agent} version={target.version} onClose={() => setTarget(undefined)} onDone={changed} />
      ) : null}
      {target?.act === 'canary' ? (
        <CanaryDialog agent={agent} version={target.version} onClose={() => setTarget(undefined)} onDone={changed} />
      ) : null}
    </div>
  );
}

const withId = (version: AgentVersionRowFragment) => ({ ...version, id: String(version.number) });

/** Says in words when a change reaches people. */
function Publishing({ agent, onChange }: { readonly agent: EditorAgent; readonly onChange: () => void }) {
  const { t } = useText();
  const confirm = useConfirm();
  const set = useMutate(SetAgentPublishingDocument);
  const isOnRequest = agent.publishing === 'ON_REQUEST';
  const turn = async (isOn: boolean) => {
    const isDraftPublished = !isOn && agent.draft?.isChanged === true;
    const isConfirmed =
      !isDraftPublished ||
      (await confirm({
        title: t('Publish each change at once?'),
        body: t('The draft is published now: people get it from now on.'),
        action: t('Publish'),
      }));
    if (!isConfirmed) return;
    const reply = await set.run({ id: agent.id, publishing: isOn ? 'ON_REQUEST' : 'AT_ONCE' });
    if (reply !== undefined) onChange();
  };
  return (
    <>
      <Switch
        label={t('Changes wait until somebody publishes them')}
        isOn={isOnRequest}
        disabled={set.isBusy}
        onChange={(isOn) => void turn(isOn)}
        hint={
          isOnRequest
            ? t('You change a draft and try it in the preview. People get it when you publish it.')
            : t('Each change reaches people at once, and makes a version.')
        }
      />
      <ErrorNote error={set.error} />
    </>
  );
}

/** What can be done with a draft besides publishing it. */
function DraftActs({
  agent,
  onCanary,
  onChange,
}: {
  readonly agent: EditorAgent;
  readonly onCanary: () => void;
  readonly onChange: () => void;
}) {
  const { t } = useText();
  const confirm = useConfirm();
  const discard = useMutate(DiscardAgentDraftDocument);
  const drop = async () => {
    const isConfirmed = await confirm({
      title: t('Discard the draft?'),
      body: t('The agent is what people get again: version {version}. What was changed since is gone.', {
        version: agent.publishedVersion,
      }),
      action: t('Discard the draft'),
      isDanger: true,
    });
    if (!isConfirmed || agent.draft === null) return;
    const reply = await discard.run({ id: agent.id, expectedDraft: agent.draft.revision });
    if (reply !== undefined) onChange();
  };
  return (
    <>
      <div className={styles.acts}>
        {agent.canary === null ? (
          <Button size="small" onClick={onCanary}>
            {t('Give the draft to a part of the chats')}
          </Button>
        ) : null}
        <Button size="small" isBusy={discard.isBusy} onClick={() => void drop()}>
          {t('Discard the draft')}
        </Button>
      </div>
      <ErrorNote error={discard.error} />
    </>
  );
}
