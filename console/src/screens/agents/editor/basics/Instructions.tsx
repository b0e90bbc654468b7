import { useText } from '../../../../text/text.ts';
import { findFault } from '../../../../ui/form/faults/find.ts';
import { SelectField, TextAreaField } from '../../../../ui/form/fields.tsx';
import { Section } from '../../../../ui/page.tsx';
import styles from '../editor.module.css';
import type { SectionProps } from '../section.ts';
import { ModelOptions } from './ModelOptions.tsx';

/** What the model is told first, which model answers, and how it samples. */
export function Instructions({ form, models }: SectionProps) {
  const { t, number } = useText();
  const { fields, set, error, isReadOnly } = form;
  const model = models.find(({ id }) => id === fields.modelId);
  return (
    <fieldset className={styles.fields} disabled={isReadOnly}>
      <legend className="visually-hidden">{t('Instructions and model')}</legend>
      <Section
        title={t('Instructions')}
        lead={t('The model reads this before each answer. Say who it is, whom it helps, how it answers and what it must not do.')}
      >
        <TextAreaField
          label={t('Instructions')}
          error={findFault(error, 'input.instructions')}
          hint={
            <span className={styles.between}>
              <span>{t('Answers to inputs stand where {placeholder} is written.', { placeholder: '{{variable}}' })}</span>
              <span>{t('{count} characters', { count: number(fields.instructions.length) })}</span>
            </span>
          }
          rows={14}
          value={fields.instructions}
          onChange={(value) => set('instructions', value)}
        />
      </Section>
      <Section title={t('Model')}>
        <SelectField
          label={t('Model')}
          error={findFault(error, 'input.modelId')}
          hint={
            model === undefined
              ? t('This installation does not have this model any more: choose another one.')
              : t('Takes {count} tokens of a conversation.', { count: number(model.contextTokensMax) })
          }
          value={fields.modelId}
          onChange={(modelId) => set('modelId', modelId)}
          options={[
            ...(model === undefined ? [{ value: fields.modelId, label: fields.modelId }] : []),
            ...models.map(({ id, isPremium }) => ({
              value: id,
              label: isPremium ? t('{model} (premium)', { model: id }) : id,
            })),
          ]}
        />
        <ModelOptions options={fields.options} onChange={(options) => set('options', options)} error={error} />
      </Section>
    </fieldset>
  );
}
