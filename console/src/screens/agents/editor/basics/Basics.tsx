import { useText } from '../../../../text/text.ts';
import { findFault } from '../../../../ui/form/faults/find.ts';
import { Checkbox } from '../../../../ui/form/field.tsx';
import { TextAreaField, TextField } from '../../../../ui/form/fields.tsx';
import { Section } from '../../../../ui/page.tsx';
import { Avatar } from '../../../../ui/small.tsx';
import styles from '../editor.module.css';
import type { SectionProps } from '../section.ts';
import { PictureInput } from './PictureInput.tsx';

/** Name, description, greeting and what people see of an answer. */
export function Basics({ form }: SectionProps) {
  const { t } = useText();
  const { fields, set, error, isReadOnly } = form;
  return (
    <fieldset className={styles.fields} disabled={isReadOnly}>
      <legend className="visually-hidden">{t('Basics')}</legend>
      <Section title={t('Basics')} lead={t('How people find this agent and how it meets them.')}>
        <div className={styles.picture}>
          <Avatar name={fields.name} pictureUrl={fields.pictureUrl} size={56} />
          {isReadOnly ? null : (
            <PictureInput
              value={fields.pictureUrl}
              onChange={(value) => set('pictureUrl', value)}
              error={findFault(error, 'input.pictureUrl')}
            />
          )}
        </div>
        <TextField
          label={t('Name')}
          error={findFault(error, 'input.name')}
          value={fields.name}
          onChange={(value) => set('name', value)}
        />
        <TextAreaField
          label={t('What it is for')}
          error={findFault(error, 'input.description')}
          hint={t('One sentence that colleagues read in the list.')}
          rows={2}
          value={fields.description}
          onChange={(value) => set('description', value)}
        />
        <TextAreaField
          label={t('Greeting')}
          error={findFault(error, 'input.introduction')}
          hint={t('Shown at the start of each chat.')}
          rows={2}
          value={fields.introduction}
          onChange={(value) => set('introduction', value)}
        />
        <TextField
          label={t('First words')}
          error={findFault(error, 'input.seed')}
          hint={t('Stands in the box of a new chat, for people to go on from.')}
          value={fields.seed}
          onChange={(value) => set('seed', value)}
        />
      </Section>
      <Section title={t('Answers and chats')}>
        <Checkbox
          label={t('Cite passages')}
          hint={t('Answers from knowledge name the passages that they rest on.')}
          checked={fields.generateCitations}
          onChange={(event) => set('generateCitations', event.target.checked)}
        />
        <Checkbox
          label={t('Show steps')}
          hint={t('People see searches, steps of flows and what tools return.')}
          checked={fields.intermediateStepsVisible}
          onChange={(event) => set('intermediateStepsVisible', event.target.checked)}
        />
        <Checkbox
          label={t('Editors read chats')}
          hint={t('Editors may read the chats of the organization that begin while this is on.')}
          checked={fields.chatLogsVisible}
          onChange={(event) => set('chatLogsVisible', event.target.checked)}
        />
      </Section>
    </fieldset>
  );
}
