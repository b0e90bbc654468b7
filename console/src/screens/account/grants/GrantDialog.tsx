import { useState } from 'react';
import { useMutate, usePage } from '../../../graphql/hooks.ts';
import styles from '../../../parts/people/people.module.css';
import { useText } from '../../../text/text.ts';
import { ErrorNote, Skeleton } from '../../../ui/feedback.tsx';
import { Checkbox } from '../../../ui/form/field.tsx';
import { SelectField } from '../../../ui/form/fields.tsx';
import { FormDialog } from '../../../ui/overlay/form-dialog.tsx';
import {
  GrantableDocument,
  type GrantableQuery,
  type GrantRowFragment,
  GrantsOfAgentDocument,
  type MemoryGrant,
  PutGrantsDocument,
} from './documents.ts';

/** Grants things of the reader to an agent. What it may open already is ticked. */
export function GrantDialog({ onClose, onGranted }: { readonly onClose: () => void; readonly onGranted: () => void }) {
  const { t } = useText();
  const { data, error } = usePage(GrantableDocument, {});
  const [chosenId, setChosenId] = useState<string>();
  const grantees = data?.viewer.agents?.nodes ?? [];
  const agentId = chosenId ?? grantees[0]?.id;
  const before = usePage(GrantsOfAgentDocument, { agentId: agentId ?? '' }, { pause: agentId === undefined });
  const grants = before.data?.agentGrants;
  if (data !== undefined && agentId !== undefined && grants?.id === agentId) {
    return (
      <GrantForm
        key={agentId}
        agentId={agentId}
        before={grants}
        grantable={data}
        onChooseAgent={setChosenId}
        onClose={onClose}
        onGranted={onGranted}
      />
    );
  }
  const isEmpty = data !== undefined && grantees.length === 0;
  return (
    <FormDialog title={t('Grant to an agent')} action={t('Grant')} isBlocked onClose={onClose} onSubmit={() => undefined}>
      {isEmpty ? <p>{t('There is no agent that you may use.')}</p> : <Skeleton lines={4} />}
      <ErrorNote error={error ?? before.error} />
    </FormDialog>
  );
}

function GrantForm({
  agentId,
  before,
  grantable,
  onChooseAgent,
  onClose,
  onGranted,
}: {
  readonly agentId: string;
  readonly before: GrantRowFragment;
  readonly grantable: GrantableQuery;
  readonly onChooseAgent: (agentId: string) => void;
  readonly onClose: () => void;
  readonly onGranted: () => void;
}) {
  const { t } = useText();
  const [connections, setConnections] = useState<readonly string[]>(before.connections);
  const [memories, setMemories] = useState<MemoryGrant>(before.memories);
  const [agents, setAgents] = useState<readonly string[]>(before.agents);
  const { run, isBusy, error } = useMutate(PutGrantsDocument);
  const grantees = grantable.viewer.agents?.nodes ?? [];
  const others = grantees.filter(({ id }) => id !== agentId);
  const grant = async () => {
    const input = { connections: [...connections], memories, agents: [...agents] };
    if ((await run({ agentId, input })) !== undefined) onGranted();
  };
  const memoryOptions: readonly { readonly value: MemoryGrant; readonly label: string }[] = [
    { value: 'NONE', label: t('does nothing with them') },
    { value: 'READ', label: t('recalls them') },
    { value: 'WRITE', label: t('recalls, keeps and forgets them') },
  ];
  return (
    <FormDialog
      title={t('Grant to an agent')}
      action={t('Grant')}
      isBusy={isBusy}
      onClose={onClose}
      onSubmit={() => void grant()}
    >
      <SelectField
        label={t('Agent')}
        options={grantees.map(({ id, name }) => ({ value: id, label: name }))}
        value={agentId}
        onChange={onChooseAgent}
      />
      <Choices
        legend={t('Connections that it may use')}
        none={t('You have no connection with an MCP server.')}
        options={grantable.connections.nodes.map(({ id, accountName }) => ({ id, name: accountName }))}
        chosen={connections}
        onChange={setConnections}
      />
      <SelectField label={t('Your memories')} options={memoryOptions} value={memories} onChange={setMemories} />
      <Choices
        legend={t('Agents that it may ask for you')}
        none={t('There is no other agent that you may use.')}
        options={others}
        chosen={agents}
        onChange={setAgents}
      />
      <ErrorNote error={error} />
    </FormDialog>
  );
}

function Choices({
  legend,
  none,
  options,
  chosen,
  onChange,
}: {
  readonly legend: string;
  readonly none: string;
  readonly options: readonly { readonly id: string; readonly name: string }[];
  readonly chosen: readonly string[];
  readonly onChange: (chosen: readonly string[]) => void;
}) {
  return (
    <fieldset className={styles.options}>
      <legend>{legend}</legend>
      {options.length === 0 ? <p className={styles.quiet}>{none}</p> : null}
      {options.length === 0 ? null : (
        <div className={styles.choices}>
          {options.map(({ id, name }) => (
            <Checkbox
              key={id}
              label={name}
              checked={chosen.includes(id)}
              onChange={({ target }) => onChange(target.checked ? [...chosen, id] : chosen.filter((one) => one !== id))}
            />
          ))}
        </div>
      )}
    </fieldset>
  );
}
