import { GraduationCap, Pencil, Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useMutate, usePage } from '../../../../graphql/hooks.ts';
import { useText } from '../../../../text/text.ts';
import { Badge, EmptyState, ErrorNote, Skeleton } from '../../../../ui/feedback.tsx';
import { Button, IconButton } from '../../../../ui/form/button.tsx';
import { errorBeside, findFault } from '../../../../ui/form/faults/find.ts';
import { Field, Switch, TextArea, TextInput } from '../../../../ui/form/field.tsx';
import { Section } from '../../../../ui/page.tsx';
import { PartDialog } from '../parts/PartDialog.tsx';
import { Row, Rows } from '../parts/Rows.tsx';
import { useRemove } from '../parts/use-remove.ts';
import type { SectionProps } from '../section.ts';
import {
  AgentSkillsDocument,
  type AgentSkillsQuery,
  CreateSkillDocument,
  DeleteSkillDocument,
  UpdateSkillDocument,
} from './documents.ts';

type Skill = NonNullable<AgentSkillsQuery['agent']>['skills'][number];

/** Instructions that the agent takes up when a task needs them. */
export function Skills({ agent, form, reload: reloadAgent }: SectionProps) {
  const { t } = useText();
  const { data, error, isLoading, reload: reloadParts } = usePage(AgentSkillsDocument, { id: agent.id });
  const reload = () => {
    reloadParts();
    // The editor counts them.
    reloadAgent();
  };
  const update = useMutate(UpdateSkillDocument);
  const remove = useRemove(DeleteSkillDocument, reload);
  const [edited, setEdited] = useState<Skill | 'new'>();
  const skills = data?.agent?.skills ?? [];
  const add = form.isReadOnly ? undefined : (
    <Button icon={<Plus size={16} aria-hidden />} onClick={() => setEdited('new')}>
      {t('Add a skill')}
    </Button>
  );
  const turn = async (skill: Skill, enabled: boolean) => {
    await update.run({ id: skill.id, input: { enabled } });
    reload();
  };
  return (
    <Section
      title={t('Skills')}
      lead={t('Longer instructions for one kind of task. The agent reads a skill only when the task needs it.')}
      actions={skills.length > 0 ? add : undefined}
    >
      <ErrorNote error={error ?? update.error} onRetry={reload} />
      {isLoading ? <Skeleton /> : null}
      {data !== undefined && skills.length === 0 ? (
        <EmptyState icon={<GraduationCap size={26} aria-hidden />} title={t('No skills yet')} action={add}>
          {t('For example: how to write an offer, or how to check an invoice.')}
        </EmptyState>
      ) : null}
      {skills.length === 0 ? null : (
        <Rows label={t('Skills')}>
          {skills.map((skill) => (
            <Row
              key={skill.id}
              title={skill.name}
              note={skill.description}
              badges={skill.enabled ? undefined : <Badge>{t('Off')}</Badge>}
              actions={
                form.isReadOnly ? undefined : (
                  <>
                    <Switch
                      label={t('Use {name}', { name: skill.name })}
                      isOn={skill.enabled}
                      onChange={(isOn) => void turn(skill, isOn)}
                    />
                    <IconButton label={t('Edit {name}', { name: skill.name })} onClick={() => setEdited(skill)}>
                      <Pencil size={16} aria-hidden />
                    </IconButton>
                    <IconButton
                      label={t('Delete {name}', { name: skill.name })}
                      onClick={() => void remove(skill.id, skill.name, t('The agent does not have this skill any more.'))}
                    >
                      <Trash2 size={16} aria-hidden />
                    </IconButton>
                  </>
                )
              }
            />
          ))}
        </Rows>
      )}
      {edited === undefined ? null : (
        <SkillDialog
          agentId={agent.id}
          skill={edited === 'new' ? undefined : edited}
          onClose={() => setEdited(undefined)}
          onSaved={() => {
            setEdited(undefined);
            reload();
          }}
        />
      )}
    </Section>
  );
}

interface DialogProps {
  readonly agentId: string;
  /** Undefined: a new one. */
  readonly skill: Skill | undefined;
  readonly onClose: () => void;
  readonly onSaved: () => void;
}

function SkillDialog({ agentId, skill, onClose, onSaved }: DialogProps) {
  const { t } = useText();
  const create = useMutate(CreateSkillDocument);
  const update = useMutate(UpdateSkillDocument);
  const [name, setName] = useState(skill?.name ?? '');
  const [description, setDescription] = useState(skill?.description ?? '');
  const [content, setContent] = useState(skill?.content ?? '');
  const error = create.error ?? update.error;
  const input = { name, description, content };
  const save = async () => {
    const result = skill === undefined ? await create.run({ agentId, input }) : await update.run({ id: skill.id, input });
    if (result !== undefined) onSaved();
  };
  return (
    <PartDialog
      title={skill === undefined ? t('New skill') : t('Edit {name}', { name: skill.name })}
      isDirty={name !== (skill?.name ?? '') || description !== (skill?.description ?? '') || content !== (skill?.content ?? '')}
      isBusy={create.isBusy || update.isBusy}
      error={errorBeside(error, ['input.name', 'input.description', 'input.content'])}
      onClose={onClose}
      onSubmit={() => void save()}
      action={t('Save')}
    >
      <Field label={t('Name')} error={findFault(error, 'input.name')}>
        {(control) => <TextInput {...control} value={name} onChange={(event) => setName(event.target.value)} />}
      </Field>
      <Field
        label={t('When to use it')}
        error={findFault(error, 'input.description')}
        hint={t('The agent chooses skills by this sentence.')}
      >
        {(control) => (
          <TextArea {...control} rows={2} value={description} onChange={(event) => setDescription(event.target.value)} />
        )}
      </Field>
      <Field label={t('Instructions')} error={findFault(error, 'input.content')}>
        {(control) => <TextArea {...control} rows={10} value={content} onChange={(event) => setContent(event.target.value)} />}
      </Field>
    </PartDialog>
  );
}
