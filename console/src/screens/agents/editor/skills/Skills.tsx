import { GraduationCap, Pencil, Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { run } from '../../../../graphql/client.ts';
import { useText } from '../../../../text/text.ts';
import { Badge, EmptyState, ErrorNote, Skeleton } from '../../../../ui/feedback.tsx';
import { Button, IconButton } from '../../../../ui/form/button.tsx';
import { findFault } from '../../../../ui/form/faults/find.ts';
import { Switch } from '../../../../ui/form/field.tsx';
import { TextAreaField, TextField } from '../../../../ui/form/fields.tsx';
import { Section } from '../../../../ui/page.tsx';
import { DraftDialog } from '../parts/DraftDialog.tsx';
import { Row, Rows } from '../parts/Rows.tsx';
import { usePartForm } from '../parts/use-part-form.ts';
import { type Parts, useParts } from '../parts/use-parts.ts';
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
export function Skills(props: SectionProps) {
  const { form } = props;
  const { t } = useText();
  const parts = useParts(AgentSkillsDocument, props, {
    pick: ({ agent }) => agent?.skills ?? [],
    list: 'skills',
    partName: ({ name }: Skill) => name,
  });
  const { data, error, isLoading, items: skills, reload } = parts;
  const [edited, setEdited] = useState<Skill | 'new'>();
  const add = form.isReadOnly ? undefined : (
    <Button icon={<Plus size={16} aria-hidden />} onClick={() => setEdited('new')}>
      {t('Add a skill')}
    </Button>
  );
  const turn = (skill: Skill, enabled: boolean) =>
    parts.act(skill, ({ revision }) => run(UpdateSkillDocument, { id: skill.id, input: { enabled }, expectedDraft: revision }));
  const remove = (skill: Skill) =>
    parts.remove(skill, t('The agent does not have this skill any more.'), ({ revision }) =>
      run(DeleteSkillDocument, { id: skill.id, expectedDraft: revision }),
    );
  return (
    <Section
      title={t('Skills')}
      lead={t('Longer instructions for one kind of task. The agent reads a skill only when the task needs it.')}
      actions={skills.length > 0 ? add : undefined}
    >
      <ErrorNote error={error} onRetry={reload} />
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
                    <IconButton label={t('Delete {name}', { name: skill.name })} onClick={() => void remove(skill)}>
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
          agentId={props.agent.id}
          parts={parts}
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
  readonly parts: Parts<AgentSkillsQuery, Skill>;
  /** Undefined: a new one. */
  readonly skill: Skill | undefined;
  readonly onClose: () => void;
  readonly onSaved: () => void;
}

const toValues = (skill: Skill | undefined) => ({
  name: skill?.name ?? '',
  description: skill?.description ?? '',
  content: skill?.content ?? '',
});

function SkillDialog({ agentId, parts, skill, onClose, onSaved }: DialogProps) {
  const { t } = useText();
  const form = usePartForm({
    agentId,
    seen: parts.see(skill),
    toValues,
    read: () => parts.read(skill?.id),
    send: (input, { item, revision }) =>
      item === undefined
        ? run(CreateSkillDocument, { agentId, input, expectedDraft: revision })
        : run(UpdateSkillDocument, { id: item.id, input, expectedDraft: revision }),
    member: parts.member,
  });
  const { values, change, error } = form;
  const { name, description, content } = values;
  const save = async () => {
    if (await form.save()) onSaved();
  };
  return (
    <DraftDialog
      form={form}
      labels={{ name: t('Name'), description: t('When to use it'), content: t('Instructions') }}
      title={skill === undefined ? t('New skill') : t('Edit {name}', { name: skill.name })}
      fieldPaths={['input.name', 'input.description', 'input.content']}
      onClose={onClose}
      onSubmit={() => void save()}
    >
      <TextField label={t('Name')} error={findFault(error, 'input.name')} value={name} onChange={(name) => change({ name })} />
      <TextAreaField
        label={t('When to use it')}
        error={findFault(error, 'input.description')}
        hint={t('The agent chooses skills by this sentence.')}
        rows={2}
        value={description}
        onChange={(description) => change({ description })}
      />
      <TextAreaField
        label={t('Instructions')}
        error={findFault(error, 'input.content')}
        rows={10}
        value={content}
        onChange={(content) => change({ content })}
      />
    </DraftDialog>
  );
}
