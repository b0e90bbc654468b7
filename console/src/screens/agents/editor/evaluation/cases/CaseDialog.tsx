import { useText } from '../../../../../text/text.ts';
import { Checkbox } from '../../../../../ui/form/field.tsx';
import { TextField } from '../../../../../ui/form/fields.tsx';
import { PartDialog } from '../../parts/PartDialog.tsx';
import type { CaseRowFragment } from '../documents.ts';
import { CallFields, CaseText, ContextFields } from './fields.tsx';
import { useCaseForm } from './use-case-form.ts';

interface Props {
  readonly datasetId: string;
  /** Undefined: a new one. */
  readonly value: CaseRowFragment | undefined;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** A question with what comes with it, and what a good answer must be. */
export function CaseDialog({ datasetId, value, onClose, onDone }: Props) {
  const { t } = useText();
  const form = useCaseForm(datasetId, value);
  const save = async () => {
    if (await form.save()) onDone();
  };
  const weighed = t('For experiments with a judge: what makes an answer good.');
  return (
    <PartDialog
      title={value === undefined ? t('New case') : t('Edit the case')}
      size="wide"
      isDirty={form.isDirty}
      isBusy={form.isBusy}
      error={form.error}
      onClose={onClose}
      onSubmit={() => void save()}
      action={t('Save')}
    >
      <CaseText form={form} name="question" label={t('Question')} />
      <ContextFields form={form} />
      <CaseText form={form} name="mustContain" label={t('The answer must say')} hint={t('A fact a line.')} />
      <CaseText form={form} name="mustNotContain" label={t('The answer must not say')} hint={t('A fact a line.')} />
      <CaseText form={form} name="mustCite" label={t('It must cite')} hint={t('A document a line, by its name.')} />
      <CallFields form={form} />
      <CaseText form={form} name="expected" label={t('A good answer')} rows={3} />
      <CaseText form={form} name="rubric" label={t('What a judge weighs')} hint={weighed} />
      <CaseText
        form={form}
        name="tags"
        label={t('Labels')}
        hint={t('One a line. A gate can ask that no case with a label fails.')}
        rows={1}
      />
      <TextField
        label={t('Weight')}
        error={form.findFault('weight')}
        type="number"
        min={0}
        max={1_000}
        step="any"
        value={form.fields.texts.weight}
        onChange={(weight) => form.setText('weight', weight)}
      />
      <Checkbox
        label={t('A good answer says that it cannot answer')}
        checked={form.fields.mustRefuse}
        onChange={(event) => form.setMustRefuse(event.target.checked)}
      />
    </PartDialog>
  );
}
