import { useDeferredValue, useState } from 'react';
import { useList } from '../../../graphql/hooks.ts';
import { useText } from '../../../text/text.ts';
import { ErrorNote, ShowMore, Skeleton } from '../../../ui/feedback.tsx';
import { SearchInput } from '../../../ui/form/field.tsx';
import { FormDialog } from '../../../ui/overlay/form-dialog.tsx';
import { Avatar } from '../../../ui/small.tsx';
import { ChatAgentsDocument } from '../documents.ts';
import { type CompareChoice, choicesMax } from './choices.ts';
import styles from './compare.module.css';

interface CompareDialogProps {
  readonly models: readonly string[];
  /** Who answers anyway. */
  readonly own: { readonly agentId: string | undefined; readonly modelId: string | undefined };
  readonly chosen: readonly CompareChoice[];
  /** How many may be chosen. */
  readonly max?: number;
  readonly action: string;
  readonly onChoose: (choices: readonly CompareChoice[]) => void;
  readonly onClose: () => void;
}

/** Chooses who else answers a message: other models, and other agents. */
export function CompareDialog(props: CompareDialogProps) {
  const { chosen, max = choicesMax, models, own, action, onChoose, onClose } = props;
  const { t } = useText();
  const [choices, setChoices] = useState(chosen);
  const isChosen = (id: string) => choices.some((choice) => choice.id === id);
  const toggle = (choice: CompareChoice) =>
    setChoices((current) =>
      current.some(({ id }) => id === choice.id) ? current.filter(({ id }) => id !== choice.id) : [...current, choice],
    );
  const otherModels = models.filter((model) => model !== own.modelId);
  const draw = (choice: CompareChoice) => (
    <li key={choice.id}>
      <label className={styles.choice}>
        <input
          type="checkbox"
          checked={isChosen(choice.id)}
          disabled={!isChosen(choice.id) && choices.length >= max}
          onChange={() => toggle(choice)}
        />
        {choice.kind === 'agent' ? <Avatar name={choice.name} size={20} /> : null}
        <span>{choice.name}</span>
      </label>
    </li>
  );
  return (
    <FormDialog
      title={t('Compare with…')}
      onClose={onClose}
      onSubmit={() => onChoose(choices)}
      action={action}
      isBlocked={choices.length === 0 && chosen.length === 0}
    >
      <p>{t('Each gives an answer of its own, beside the first one: at most {count}.', { count: max })}</p>
      {otherModels.length === 0 ? null : (
        <fieldset className={styles.choices}>
          <legend>{t('Other models')}</legend>
          <ul>{otherModels.map((id) => draw({ kind: 'model', id, name: id }))}</ul>
        </fieldset>
      )}
      <AgentChoices ownId={own.agentId} draw={draw} />
    </FormDialog>
  );
}

function AgentChoices({
  ownId,
  draw,
}: {
  readonly ownId: string | undefined;
  readonly draw: (choice: CompareChoice) => React.ReactNode;
}) {
  const { t } = useText();
  const [typed, setTyped] = useState('');
  const search = useDeferredValue(typed.trim()) || null;
  const { error, isLoading, pages: more } = useList(ChatAgentsDocument, { search, after: null }, (data) => data.agents);
  const others = more.nodes.filter(({ id }) => id !== ownId);
  return (
    <fieldset className={styles.choices}>
      <legend>{t('Other agents')}</legend>
      <SearchInput label={t('Search agents')} value={typed} onChange={setTyped} />
      <ErrorNote error={error} />
      {isLoading ? <Skeleton lines={3} /> : null}
      {!isLoading && others.length === 0 ? <p>{t('Nothing found')}</p> : null}
      <ul>{others.map(({ id, name }) => draw({ kind: 'agent', id, name }))}</ul>
      <ShowMore pages={more} size="small" />
    </fieldset>
  );
}
