import { Plus, Sparkles, X } from 'lucide-react';
import { useMutate } from '../../../../graphql/hooks.ts';
import { useText } from '../../../../text/text.ts';
import { ErrorNote } from '../../../../ui/feedback.tsx';
import { Button, IconButton } from '../../../../ui/form/button.tsx';
import { findFault } from '../../../../ui/form/faults/find.ts';
import type { FieldError } from '../../../../ui/form/field.tsx';
import { TextAreaField, TextField } from '../../../../ui/form/fields.tsx';
import { Section } from '../../../../ui/page.tsx';
import type { AgentFields } from '../draft/draft.ts';
import styles from '../editor.module.css';
import type { SectionProps } from '../section.ts';
import { WriteProfileDocument } from './documents.ts';

type ProfileFields = AgentFields['profile'];

/** How the agent is presented: a headline, what it is good at, and sample questions that a new chat offers. */
export function Profile({ agent, form, reload }: SectionProps) {
  const { t } = useText();
  const { fields, error, isReadOnly } = form;
  const write = useMutate(WriteProfileDocument);
  const { profile } = fields;
  const change = (members: Partial<ProfileFields>) => form.set('profile', { ...profile, ...members });
  const draft = async () => {
    if ((await write.run({ id: agent.id })) !== undefined) reload();
  };
  return (
    <fieldset className={styles.fields} disabled={isReadOnly}>
      <legend className="visually-hidden">{t('Profile')}</legend>
      <Section
        title={t('Profile')}
        lead={t('How the agent is presented to people who do not know it.')}
        actions={
          isReadOnly ? undefined : (
            <Button
              icon={<Sparkles size={16} aria-hidden />}
              isBusy={write.isBusy}
              disabled={form.changed.includes('profile')}
              onClick={() => void draft()}
            >
              {t('Let its model write it')}
            </Button>
          )
        }
      >
        <ErrorNote error={write.error} />
        <TextField
          label={t('Headline')}
          error={findFault(error, 'input.profile.headline')}
          value={profile.headline ?? ''}
          onChange={(headline) => change({ headline })}
        />
        <TextAreaField
          label={t('Description')}
          error={findFault(error, 'input.profile.description')}
          rows={3}
          value={profile.description ?? ''}
          onChange={(description) => change({ description })}
        />
        <TextAreaField
          label={t('What it knows')}
          error={findFault(error, 'input.profile.trainingDescription')}
          rows={2}
          value={profile.trainingDescription ?? ''}
          onChange={(trainingDescription) => change({ trainingDescription })}
        />
      </Section>
      <Pairs
        title={t('What it is good at')}
        names={[t('In a few words'), t('In a sentence')]}
        pairs={profile.features.map(({ title, description }) => [title, description])}
        onChange={(pairs) => change({ features: pairs.map(([title, description]) => ({ title, description })) })}
        findFault={(index) => findFault(error, `input.profile.features.${index}`)}
      />
      <Pairs
        title={t('Sample questions')}
        lead={t('A new chat offers the questions as buttons.')}
        names={[t('Question'), t('Answer')]}
        pairs={profile.conversations.map(({ question, answer }) => [question ?? '', answer ?? ''])}
        onChange={(pairs) => change({ conversations: pairs.map(([question, answer]) => ({ question, answer })) })}
        findFault={(index) => findFault(error, `input.profile.conversations.${index}`)}
      />
    </fieldset>
  );
}

type Pair = readonly [string, string];

/** A list of two texts each. */
function Pairs({
  title,
  lead,
  names,
  pairs,
  onChange,
  findFault,
}: {
  readonly title: string;
  readonly lead?: string;
  readonly names: Pair;
  readonly pairs: readonly Pair[];
  readonly onChange: (pairs: readonly Pair[]) => void;
  readonly findFault: (index: number) => FieldError;
}) {
  const { t } = useText();
  const replace = (index: number, pair: Pair) => onChange(pairs.map((other, at) => (at === index ? pair : other)));
  return (
    <Section
      title={title}
      lead={lead}
      actions={
        <Button size="small" icon={<Plus size={15} aria-hidden />} onClick={() => onChange([...pairs, ['', '']])}>
          {t('Add')}
          <span className="visually-hidden"> {title}</span>
        </Button>
      }
    >
      {pairs.map(([first, second], index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the pairs have no ids
        <div key={index} className={styles.pair}>
          <TextField
            label={`${names[0]} ${index + 1}`}
            error={findFault(index)}
            value={first}
            onChange={(value) => replace(index, [value, second])}
          />
          <TextAreaField
            label={`${names[1]} ${index + 1}`}
            rows={2}
            value={second}
            onChange={(value) => replace(index, [first, value])}
          />
          <IconButton
            label={t('Remove {name}', { name: `${title} ${index + 1}` })}
            onClick={() => onChange(pairs.filter((_, at) => at !== index))}
          >
            <X size={16} aria-hidden />
          </IconButton>
        </div>
      ))}
    </Section>
  );
}
