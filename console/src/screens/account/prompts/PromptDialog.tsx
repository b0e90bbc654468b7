import { useState } from 'react';
import { useMutate, usePage } from '../../../graphql/hooks.ts';
import styles from '../../../parts/people/people.module.css';
import { useSession } from '../../../parts/session/session.tsx';
import { useText } from '../../../text/text.ts';
import { ErrorNote } from '../../../ui/feedback.tsx';
import { Button } from '../../../ui/form/button.tsx';
import { errorBeside, findFault } from '../../../ui/form/faults/find.ts';
import { Field, Select, TextArea, TextInput } from '../../../ui/form/field.tsx';
import { type Named, NamedChoice } from '../../../ui/form/named-choice.tsx';
import { Dialog } from '../../../ui/overlay/dialog.tsx';
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
  const words = { PRIVATE: t('Only you'), GROUP: t('Groups'), ORGANIZATION: t('Everybody here') };
  const save = async () => {
    const input = {
      name: name.trim(),
      command,
      text,
      visibility,
      groupIds: visibility === 'GROUP' ? groups.map(({ id }) => id) : [],
    };
    const result = prompt === undefined ? await add.run({ input }) : await change.run({ id: prompt.id, input });
    if (result === undefined) return;
    onSaved();
    onClose();
  };
  return (
    <Dialog
      title={prompt === undefined ? t('Add a prompt') : t('Edit the prompt')}
      isOpen
      onClose={onClose}
      onSubmit={() => void save()}
      actions={
        <>
          <Button onClick={onClose}>{t('Cancel')}</Button>
          <Button
            type="submit"
            variant="primary"
            isBusy={isBusy}
            disabled={name.trim() === '' || command === '' || text.trim() === ''}
          >
            {t('Save')}
          </Button>
        </>
      }
    >
      <Field label={t('Name')} error={findFault(error, 'name')}>
        {(control) => <TextInput {...control} maxLength={100} value={name} onChange={(event) => setName(event.target.value)} />}
      </Field>
      <Field
        label={t('Command')}
        hint={t('What you type behind / in the box of a chat: small letters, digits and hyphens.')}
        error={findFault(error, 'command')}
      >
        {(control) => (
          <TextInput
            {...control}
            maxLength={40}
            value={command}
            onChange={(event) => setCommand(event.target.value.toLowerCase())}
          />
        )}
      </Field>
      <Field
        label={t('Text')}
        hint={t('Variables: {plain} asks for a text, {preset} begins with one, {choice} offers a choice.', {
          plain: '{{customer}}',
          preset: '{{tone=friendly}}',
          choice: '{{language: English | German}}',
        })}
        error={findFault(error, 'text')}
      >
        {(control) => (
          <TextArea {...control} rows={8} maxLength={20_000} value={text} onChange={(event) => setText(event.target.value)} />
        )}
      </Field>
      <Field label={t('Who may use it')} error={findFault(error, 'visibility')}>
        {(control) => (
          <Select
            {...control}
            value={visibility}
            onChange={(event) => setVisibility(visibilities.find((each) => each === event.target.value) ?? 'PRIVATE')}
          >
            {visibilities
              .filter((each) => each !== 'GROUP' || may('GROUPS_READ'))
              .map((each) => (
                <option key={each} value={each}>
                  {words[each]}
                </option>
              ))}
          </Select>
        )}
      </Field>
      {visibility === 'GROUP' ? <GroupChoice chosen={groups} onChange={setGroups} /> : null}
      <ErrorNote error={errorBeside(error, ['name', 'command', 'text', 'visibility'])} />
    </Dialog>
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
