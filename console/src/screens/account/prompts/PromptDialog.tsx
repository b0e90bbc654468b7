import { useState } from 'react';
import { useMutate, usePage } from '../../../graphql/hooks.ts';
import styles from '../../../parts/people/people.module.css';
import { useSession } from '../../../parts/session/session.tsx';
import { useText } from '../../../text/text.ts';
import { ErrorNote } from '../../../ui/feedback.tsx';
import { errorBeside, findFault } from '../../../ui/form/faults/find.ts';
import type { FieldError } from '../../../ui/form/field.tsx';
import { SelectField, TextAreaField, TextField } from '../../../ui/form/fields.tsx';
import { type Named, NamedChoice } from '../../../ui/form/named-choice.tsx';
import { FormDialog } from '../../../ui/overlay/form-dialog.tsx';
import { useDelayed } from '../../../ui/use-delayed.ts';
import { AddPromptDocument, PromptGroupsDocument, type PromptRowFragment, SavePromptDocument } from './documents.ts';

type Visibility = PromptRowFragment['visibility'];
const visibilities = ['PRIVATE', 'GROUP', 'ORGANIZATION'] as const satisfies readonly Visibility[];

/** Makes a prompt, or changes one. */
export function PromptDialog({
  prompt,
  onClose,
  onSaved,
}: {
  readonly prompt: PromptRowFragment | undefined;
  readonly onClose: () => void;
  readonly onSaved: () => void;
}) {
  const { t } = useText();
  const { may } = useSession();
  const [name, setName] = useState(prompt?.name ?? '');
  const [typedCommand, setCommand] = useState(prompt?.command);
  const [text, setText] = useState(prompt?.text ?? '');
  const [visibility, setVisibility] = useState<Visibility>(prompt?.visibility ?? 'PRIVATE');
  const [groups, setGroups] = useState<readonly Named[]>(prompt?.groups ?? []);
  const add = useMutate(AddPromptDocument);
  const change = useMutate(SavePromptDocument);
  const { isBusy, error } = prompt === undefined ? add : change;
  // Until somebody writes another one, the command follows the name.
  const command = typedCommand ?? toCommand(name);
  // Whoever may not read groups sees none: those of the prompt stay as they are.
  const keepsGroups = visibility === 'GROUP' && !may('GROUPS_READ');
  const save = async () => {
    const words = { name: name.trim(), command, text };
    const input = keepsGroups
      ? words
      : { ...words, visibility, groupIds: visibility === 'GROUP' ? groups.map(({ id }) => id) : [] };
    const result = prompt === undefined ? await add.run({ input }) : await change.run({ id: prompt.id, input });
    if (result === undefined) return;
    onSaved();
    onClose();
  };
  return (
    <FormDialog
      title={prompt === undefined ? t('Add a prompt') : t('Edit the prompt')}
      onClose={onClose}
      onSubmit={() => void save()}
      action={t('Save')}
      isDirty={name !== (prompt?.name ?? '') || text !== (prompt?.text ?? '')}
      isBusy={isBusy}
      isBlocked={name.trim() === '' || command === '' || text.trim() === ''}
    >
      <TextField label={t('Name')} error={findFault(error, 'name')} maxLength={100} value={name} onChange={setName} />
      <TextField
        label={t('Command')}
        hint={t('What you type behind / in the box of a chat: small letters, digits and hyphens.')}
        error={findFault(error, 'command')}
        maxLength={40}
        value={command}
        onChange={(value) => setCommand(value.toLowerCase())}
      />
      <TextAreaField
        label={t('Text')}
        hint={t('Variables: {plain} asks for a text, {preset} begins with one, {choice} offers a choice.', {
          plain: '{{customer}}',
          preset: '{{tone=friendly}}',
          choice: '{{language: English | German}}',
        })}
        error={findFault(error, 'text')}
        rows={8}
        maxLength={20_000}
        value={text}
        onChange={setText}
      />
      <VisibilityField
        fault={findFault(error, 'visibility')}
        hasGroups={prompt?.visibility === 'GROUP' || may('GROUPS_READ')}
        value={visibility}
        onChange={setVisibility}
      />
      {visibility === 'GROUP' && !keepsGroups ? <GroupChoice chosen={groups} onChange={setGroups} /> : null}
      <ErrorNote error={errorBeside(error, ['name', 'command', 'text', 'visibility'])} />
    </FormDialog>
  );
}

function VisibilityField({
  fault,
  hasGroups,
  value,
  onChange,
}: {
  readonly fault: FieldError;
  readonly hasGroups: boolean;
  readonly value: Visibility;
  readonly onChange: (visibility: Visibility) => void;
}) {
  const { t } = useText();
  const words = { PRIVATE: t('Only you'), GROUP: t('Groups'), ORGANIZATION: t('Everybody here') };
  return (
    <SelectField
      label={t('Who may use it')}
      error={fault}
      value={value}
      onChange={onChange}
      options={visibilities.filter((each) => each !== 'GROUP' || hasGroups).map((each) => ({ value: each, label: words[each] }))}
    />
  );
}

function GroupChoice({
  chosen,
  onChange,
}: {
  readonly chosen: readonly Named[];
  readonly onChange: (chosen: readonly Named[]) => void;
}) {
  const { t } = useText();
  const [typed, setTyped] = useState('');
  const search = useDelayed(typed.trim()) || null;
  const { data, error } = usePage(PromptGroupsDocument, { search });
  const hasMany = typed !== '' || data?.groups.pageInfo.hasNextPage === true;
  return (
    <NamedChoice
      title={t('Groups')}
      chosen={chosen}
      matches={data?.groups.nodes}
      onChange={onChange}
      search={hasMany ? { label: t('Search groups'), value: typed, onChange: setTyped } : undefined}
      error={error}
      nothing={search === null ? t('There are no groups yet.') : t('No group fits.')}
      className={styles.options}
    />
  );
}

function toCommand(name: string): string {
  const plain = name.normalize('NFKD').toLowerCase();
  return (plain.match(/[a-z0-9]+/g) ?? []).join('-').slice(0, 40).replace(/-$/, '');
}
