import { Plus, Trash2, Workflow } from 'lucide-react';
import { useState } from 'react';
import { useMutate, usePage } from '../../../../graphql/hooks.ts';
import { useText } from '../../../../text/text.ts';
import { EmptyState, ErrorNote, Note, Skeleton } from '../../../../ui/feedback.tsx';
import { Button, IconButton } from '../../../../ui/form/button.tsx';
import { errorBeside, findFault } from '../../../../ui/form/faults/find.ts';
import { Field, Switch, TextInput } from '../../../../ui/form/field.tsx';
import { Section } from '../../../../ui/page.tsx';
import { PartDialog } from '../parts/PartDialog.tsx';
import { Row, Rows } from '../parts/Rows.tsx';
import { useRemove } from '../parts/use-remove.ts';
import type { SectionProps } from '../section.ts';
import { AgentFlowsDocument, CreateFlowDocument, DeleteFlowDocument, UpdateFlowDocument } from './documents.ts';
import type { Flow } from './steps.ts';
import { Versions } from './Versions.tsx';

/** Fixed sequences of steps that answer in place of the model alone. */
export function Flows({ agent, form, reload: reloadAgent }: SectionProps) {
  const { t } = useText();
  const { data, error, isLoading, reload: reloadParts } = usePage(AgentFlowsDocument, { id: agent.id });
  const reload = () => {
    reloadParts();
    // The editor counts them.
    reloadAgent();
  };
  const update = useMutate(UpdateFlowDocument);
  const remove = useRemove(DeleteFlowDocument, reload);
  const [isAdding, setAdding] = useState(false);
  const flows = data?.agent?.flows ?? [];
  const add = form.isReadOnly ? undefined : (
    <Button icon={<Plus size={16} aria-hidden />} onClick={() => setAdding(true)}>
      {t('Add a flow')}
    </Button>
  );
  const turn = async ({ id }: Flow, enabled: boolean) => {
    await update.run({ id, input: { enabled } });
    reload();
  };
  const names = { tools: data?.agent?.tools.map(({ name }) => name) ?? [], models: data?.models.map(({ id }) => id) ?? [] };
  return (
    <Section
      title={t('Flows')}
      lead={t('A flow answers by steps that always come in the same order. Its active version is the one that runs.')}
      actions={flows.length > 0 ? add : undefined}
    >
      <ErrorNote error={error ?? update.error} onRetry={reload} />
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
                  <FlowActs
                    flow={flow}
                    onTurn={(isOn) => void turn(flow, isOn)}
                    onRemove={() => void remove(flow.id, flow.name, t('All its versions are deleted.'))}
                  />
                )
              }
            >
              {flow.warnings.map(({ message }) => (
                <Note key={message} tone="warn">
                  {message}
                </Note>
              ))}
              {flow.versions === null ? null : (
                <Versions flow={flow} versions={flow.versions} isReadOnly={form.isReadOnly} names={names} onSaved={reload} />
              )}
            </Row>
          ))}
        </Rows>
      )}
      {isAdding ? (
        <NewFlow
          agentId={agent.id}
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
  onClose,
  onSaved,
}: {
  readonly agentId: string;
  readonly onClose: () => void;
  readonly onSaved: () => void;
}) {
  const { t } = useText();
  const create = useMutate(CreateFlowDocument);
  const [name, setName] = useState('');
  const save = async () => {
    const steps = [{ retrieve: { stepId: 'find' } }, { model: { stepId: 'answer' } }];
    const input = { name, enabled: false, versions: [{ version: 1, active: true, description: '', steps }] };
    if ((await create.run({ agentId, input })) !== undefined) onSaved();
  };
  return (
    <PartDialog
      title={t('New flow')}
      isDirty={name !== ''}
      isBusy={create.isBusy}
      error={errorBeside(create.error, ['input.name'])}
      onClose={onClose}
      onSubmit={() => void save()}
      action={t('Create')}
    >
      <Field
        label={t('Name')}
        error={findFault(create.error, 'input.name')}
        hint={t('It begins with two steps, a search and an answer, and is switched off until you turn it on.')}
      >
        {(control) => <TextInput {...control} value={name} onChange={(event) => setName(event.target.value)} />}
      </Field>
    </PartDialog>
  );
}
