import { useState } from 'react';
import { useMutate, usePage } from '../../../graphql/hooks.ts';
import { useSession } from '../../../parts/session/session.tsx';
import { useText } from '../../../text/text.ts';
import { ErrorNote } from '../../../ui/feedback.tsx';
import { errorBeside, findFault } from '../../../ui/form/faults/find.ts';
import { TextAreaField, TextField } from '../../../ui/form/fields.tsx';
import { type Named, NamedChoice } from '../../../ui/form/named-choice.tsx';
import { FormDialog } from '../../../ui/overlay/form-dialog.tsx';
import { useDelayed } from '../../../ui/use-delayed.ts';
import styles from '../library.module.css';
import { ProjectChoicesDocument, type ProjectPartsFragment, UpdateProjectDocument } from './documents.ts';

type Kind = 'groups' | 'dataSources' | 'agents';

/** Everything that a project has. Only its owner sees this. */
export function ProjectForm({
  project,
  onClose,
  onSaved,
}: {
  readonly project: ProjectPartsFragment;
  readonly onClose: () => void;
  readonly onSaved: () => void;
}) {
  const { t } = useText();
  const { may } = useSession();
  const [name, setName] = useState(project.name);
  const [instructions, setInstructions] = useState(project.instructions);
  const [groups, setGroups] = useState<readonly Named[]>(project.groups ?? []);
  const [sources, setSources] = useState<readonly Named[]>(project.dataSources ?? []);
  const [agents, setAgents] = useState<readonly Named[]>(project.agents ?? []);
  const { run: update, isBusy, error } = useMutate(UpdateProjectDocument);
  const save = async () => {
    const input = {
      name: name.trim(),
      instructions: instructions.trim(),
      // What the session may not read is not sent: it stays.
      ...(may('GROUPS_READ') ? { groupIds: listIds(groups) } : {}),
      ...(may('DATA_SOURCES_READ') ? { dataSourceIds: listIds(sources) } : {}),
      ...(may('AGENTS_READ') ? { agentIds: listIds(agents) } : {}),
    };
    if ((await update({ id: project.id, input })) === undefined) return;
    onSaved();
    onClose();
  };
  return (
    <FormDialog
      title={t('Edit the project')}
      size="wide"
      onClose={onClose}
      onSubmit={() => void save()}
      action={t('Save')}
      isDirty={name !== project.name || instructions !== project.instructions}
      isBusy={isBusy}
      isBlocked={name.trim() === ''}
    >
      <TextField label={t('Name')} error={findFault(error, 'name')} value={name} maxLength={200} onChange={setName} />
      <TextAreaField
        label={t('Instructions')}
        hint={t('What agents are told in each chat of it, behind their own instructions.')}
        error={findFault(error, 'instructions')}
        rows={6}
        value={instructions}
        maxLength={20_000}
        onChange={setInstructions}
      />
      <div className={styles.parts}>
        {may('GROUPS_READ') ? <Choice kind="groups" title={t('Shared with')} chosen={groups} onChange={setGroups} /> : null}
        {may('DATA_SOURCES_READ') ? (
          <Choice kind="dataSources" title={t('Knowledge')} chosen={sources} onChange={setSources} />
        ) : null}
        {may('AGENTS_READ') ? (
          <Choice kind="agents" title={t('Agents offered first')} chosen={agents} onChange={setAgents} />
        ) : null}
      </div>
      <ErrorNote error={errorBeside(error, ['name', 'instructions'])} />
    </FormDialog>
  );
}

function Choice({
  kind,
  title,
  chosen,
  onChange,
}: {
  readonly kind: Kind;
  readonly title: string;
  readonly chosen: readonly Named[];
  readonly onChange: (chosen: readonly Named[]) => void;
}) {
  const { t } = useText();
  const [typed, setTyped] = useState('');
  const search = useDelayed(typed.trim()) || null;
  const { data, error } = usePage(ProjectChoicesDocument, {
    search,
    ...{ groups: kind === 'groups', sources: kind === 'dataSources', agents: kind === 'agents' },
  });
  return (
    <NamedChoice
      title={title}
      chosen={chosen}
      matches={data?.[kind]?.nodes}
      onChange={onChange}
      search={{ label: t('Search: {title}', { title }), value: typed, onChange: setTyped }}
      error={error}
      nothing={t('Nothing found')}
    />
  );
}

function listIds(parts: readonly Named[]): string[] {
  return parts.map(({ id }) => id);
}
