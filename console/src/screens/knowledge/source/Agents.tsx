import { MessageSquare, Unlink } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'wouter';
import { run } from '../../../graphql/client.ts';
import { usePage, useSend } from '../../../graphql/hooks.ts';
import { addToDraft } from '../../../parts/drafts/change.ts';
import { useSession } from '../../../parts/session/session.tsx';
import { useText } from '../../../text/text.ts';
import { ErrorNote } from '../../../ui/feedback.tsx';
import { Button, ButtonLink, IconButton } from '../../../ui/form/button.tsx';
import { SearchInput, Select } from '../../../ui/form/field.tsx';
import { useConfirm } from '../../../ui/overlay/confirm.tsx';
import { useToast } from '../../../ui/overlay/toasts.tsx';
import { Section } from '../../../ui/page.tsx';
import { Avatar } from '../../../ui/small.tsx';
import { useDelayed } from '../../../ui/use-delayed.ts';
import { AgentChoiceDocument, AttachSourceDocument, DetachSourceDocument } from '../documents.ts';
import styles from './source.module.css';
import type { Source } from './source.ts';

/** The agents that answer from a source: give it to more, or take it away. */
export function Agents({ source, onChanged }: { readonly source: Source; readonly onChanged: () => void }) {
  const { t } = useText();
  const { may } = useSession();
  const confirm = useConfirm();
  const say = useToast();
  const detach = useSend((agentId: string) =>
    addToDraft(agentId, (expectedDraft) => run(DetachSourceDocument, { agentId, sourceId: source.id, expectedDraft })),
  );
  const { agents } = source;
  const remove = async (agent: { readonly id: string; readonly name: string }) => {
    const isWanted = await confirm({
      title: t('Remove it from "{name}"?', { name: agent.name }),
      body: t('The agent does not answer from it any more. The source stays.'),
      action: t('Take away'),
    });
    if (!isWanted) return;
    const result = await detach.run(agent.id);
    if (result === undefined) return;
    for (const { message } of result.detachDataSource.warnings ?? []) say(message, 'warn');
    onChanged();
  };
  const mayDetach = may('DATA_SOURCES_WRITE');
  return (
    <Section
      title={t('Agents that answer from it')}
      actions={may('DATA_SOURCES_WRITE') ? <AttachForm source={source} onChanged={onChanged} /> : undefined}
    >
      <ErrorNote error={detach.error} />
      {agents.nodes.length === 0 ? (
        <p className={styles.quiet}>{t('None yet: give it to an agent, so that somebody can ask.')}</p>
      ) : (
        <ul className={styles.list} aria-label={t('Agents')}>
          {agents.nodes.map((agent) => (
            <li key={agent.id} className={styles.agent}>
              <Avatar name={agent.name} pictureUrl={agent.pictureUrl} />
              <Link href={`/agents/${agent.id}`}>{agent.name}</Link>
              <ButtonLink size="small" icon={<MessageSquare size={15} aria-hidden />} href={`/?agent=${agent.id}`}>
                {t('Ask')}
              </ButtonLink>
              {mayDetach && agent.canEdit ? (
                <IconButton label={t('Remove it from {name}', { name: agent.name })} onClick={() => void remove(agent)}>
                  <Unlink size={16} aria-hidden />
                </IconButton>
              ) : null}
            </li>
          ))}
        </ul>
      )}
      {agents.pageInfo.hasNextPage ? (
        <p className={styles.quiet}>{t('And more: {count} in all', { count: source.usageCount })}</p>
      ) : null}
    </Section>
  );
}

function AttachForm({ source, onChanged }: { readonly source: Source; readonly onChanged: () => void }) {
  const { t } = useText();
  const say = useToast();
  const [typed, setTyped] = useState('');
  const search = useDelayed(typed.trim());
  const { data } = usePage(AgentChoiceDocument, { search: search === '' ? null : search });
  const attach = useSend((agentId: string) =>
    addToDraft(agentId, (expectedDraft) => run(AttachSourceDocument, { agentId, sourceId: source.id, expectedDraft })),
  );
  const attached = new Set(source.agents.nodes.map(({ id }) => id));
  const others = (data?.agents.nodes ?? []).filter(({ id, canEdit }) => canEdit && !attached.has(id));
  const hasMany = data?.agents.pageInfo.hasNextPage === true || typed !== '';
  const [agentId, setAgentId] = useState('');
  const agent = others.find(({ id }) => id === agentId);
  if (others.length === 0 && !hasMany) return null;
  const send = async () => {
    if (agent === undefined) return;
    const result = await attach.run(agent.id);
    if (result === undefined) return;
    for (const { message } of result.attachDataSource.warnings ?? []) say(message, 'warn');
    setAgentId('');
    onChanged();
  };
  return (
    <div className={styles.attach}>
      {hasMany ? <SearchInput label={t('Search agents')} value={typed} onChange={setTyped} /> : null}
      <Select aria-label={t('Agent')} value={agent?.id ?? ''} onChange={({ target }) => setAgentId(target.value)}>
        <option value="">{t('Choose an agent')}</option>
        {others.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </Select>
      <Button disabled={agent === undefined} isBusy={attach.isBusy} onClick={() => void send()}>
        {t('Give to agent')}
      </Button>
      <ErrorNote error={attach.error} />
    </div>
  );
}
