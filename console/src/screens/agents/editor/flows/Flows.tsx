import { Plus, Trash2, Workflow } from 'lucide-react';
import { useState } from 'react';
import { run } from '../../../../graphql/client.ts';
import { useText } from '../../../../text/text.ts';
import { EmptyState, ErrorNote, Note, Skeleton } from '../../../../ui/feedback.tsx';
import { Button, IconButton } from '../../../../ui/form/button.tsx';
import { findFault } from '../../../../ui/form/faults/find.ts';
import { Switch } from '../../../../ui/form/field.tsx';
import { TextField } from '../../../../ui/form/fields.tsx';
import { Section } from '../../../../ui/page.tsx';
import { DraftDialog } from '../parts/DraftDialog.tsx';
import { Row, Rows } from '../parts/Rows.tsx';
import { usePartForm } from '../parts/use-part-form.ts';
import { type Parts, useParts } from '../parts/use-parts.ts';
import type { SectionProps } from '../section.ts';
import {
  AgentFlowsDocument,
  type AgentFlowsQuery,
  CreateFlowDocument,
  DeleteFlowDocument,
  UpdateFlowDocument,
} from './documents.ts';
import type { Flow } from './steps.ts';
import { Versions } from './Versions.tsx';

/** Fixed sequences of steps that answer in place of the model alone. */
export function Flows(props: SectionProps) {
  const { agent, form } = props;
  const { t } = useText();
  const parts = useParts(AgentFlowsDocument, props, {
    pick: (result) => result.agent?.flows ?? [],
    list: 'flows',
    partName: ({ name }: Flow) => name,
  });
  const { data, error, isLoading, items: flows, reload } = parts;
  const [isAdding, setAdding] = useState(false);
  const add = form.isReadOnly ? undefined : (
    <Button icon={<Plus size={16} aria-hidden />} onClick={() => setAdding(true)}>
      {t('Add a flow')}
    </Button>
  );
  const turn = (flow: Flow, enabled: boolean) =>
    parts.act(flow, ({ revision }) => run(UpdateFlowDocument, { id: flow.id, input: { enabled }, expectedDraft: revision }));
  const remove = (flow: Flow) =>
    parts.remove(flow, t('All its versions are deleted.'), ({ revision }) =>
      run(DeleteFlowDocument, { id: flow.id, expectedDraft: revision }),
    );
  const names = { tools: data?.agent?.tools.map(({ name }) => name) ?? [], models: data?.models.map(({ id }) => id) ?? [] };
  return (
    <Section
      title={t('Flows')}
      lead={t('A flow answers by steps that always come in the same order. Its active version is the one that runs.')}
      actions={flows.length > 0 ? add : undefined}
    >
      <ErrorNote error={error} onRetry={reload} />
      {isLoading ? <Skeleton /> : null}
      {data !== undefined && flows.length === 0 ? (
        <EmptyState icon={<Workflow size={26} aria-hidden />} title={t('No flows yet')} action={add}>
          {t('Without a flow the model decides by itself when to search and which tools to call. That is right for most agents.')}
        </EmptyState>
      ) : null}
      {flows.length === 0 ? null : (
        <Rows label={t('Flows')}>
          {flows.map((flow) => (
            <Row
              key={flow.id}
              title={flow.name}
              actions={
                form.isReadOnly ? undefined : (
                  <FlowActs flow={flow} onTurn={(isOn) => void turn(flow, isOn)} onRemove={() => void remove(flow)} />
                )
              }
            >
              {flow.warnings.map(({ message }) => (
                <Note key={message} tone="warn">
                  {message}
                </Note>
              ))}
              {flow.versions === null ? null : (
                <Versions
                  agentId={agent.id}
                  parts={parts}
                  flow={flow}
                  versions={flow.versions}
                  isReadOnly={form.isReadOnly}
                  names={names}
                />
              )}
            </Row>
          ))}
        </Rows>
      )}
      {isAdding ? (
        <NewFlow
          agentId={agent.id}
          parts={parts}
          onClose={() => setAdding(false)}
          onSaved={() => {
            setAdding(false);
            reload();
          }}
        />
      ) : null}
    </Section>
  );
}

function FlowActs({
  flow,
  onTurn,
  onRemove,
}: {
  readonly flow: Flow;
  readonly onTurn: (isOn: boolean) => void;
  readonly onRemove: () => void;
}) {
  const { t } = useText();
  return (
    <>
      <Switch label={t('Use {name}', { name: flow.name })} isOn={flow.enabled} onChange={onTurn} />
      <IconButton label={t('Delete {name}', { name: flow.name })} onClick={onRemove}>
        <Trash2 size={16} aria-hidden />
      </IconButton>
    </>
  );
}

function NewFlow({
  agentId,
  parts,
  onClose,
  onSaved,
}: {
  readonly agentId: string;
  readonly parts: Parts<AgentFlowsQuery, Flow>;
  readonly onClose: () => void;
  readonly onSaved: () => void;
}) {
  const { t } = useText();
  const form = usePartForm({
    agentId,
    seen: parts.see(undefined),
    toValues: () => ({ name: '' }),
    read: () => parts.read(undefined),
    send: ({ name }, { revision }) => {
      const steps = [{ retrieve: { stepId: 'find' } }, { model: { stepId: 'answer' } }];
      const input = { name, enabled: false, versions: [{ version: 1, active: true, description: '', steps }] };
      return run(CreateFlowDocument, { agentId, input, expectedDraft: revision });
    },
    member: parts.member,
  });
  const { values, change, error } = form;
  const save = async () => {
    if (await form.save()) onSaved();
  };
  return (
    <DraftDialog
      form={form}
      labels={{ name: t('Name') }}
      title={t('New flow')}
      fieldPaths={['input.name']}
      onClose={onClose}
      onSubmit={() => void save()}
      action={t('Create')}
    >
      <TextField
        label={t('Name')}
        error={findFault(error, 'input.name')}
        hint={t('It begins with two steps, a search and an answer, and is switched off until you turn it on.')}
        value={values.name}
        onChange={(name) => change({ name })}
      />
    </DraftDialog>
  );
}
