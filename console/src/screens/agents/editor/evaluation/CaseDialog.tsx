import { useState } from 'react';
import { useMutate } from '../../../../graphql/hooks.ts';
import { useText } from '../../../../text/text.ts';
import { errorBeside } from '../../../../ui/form/faults/find.ts';
import { Checkbox, Field, TextArea, TextInput } from '../../../../ui/form/field.tsx';
import { PartDialog } from '../parts/PartDialog.tsx';
import { splitLines } from '../parts/words.ts';
import { AddCaseDocument, type CaseRowFragment, type DatasetCaseInput, UpdateCaseDocument } from './documents.ts';

interface Props {
  readonly datasetId: string;
  /** Undefined: a new one. */
  readonly value: CaseRowFragment | undefined;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

const texts = ['question', 'expected', 'mustContain', 'mustNotContain', 'mustCite', 'rubric', 'tags', 'weight'] as const;
type TextName = (typeof texts)[number];

/** A question and what a good answer must be. What the form does not show of a case stays as it is. */
export function CaseDialog({ datasetId, value, onClose, onDone }: Props) {
  const { t } = useText();
  const add = useMutate(AddCaseDocument);
  const update = useMutate(UpdateCaseDocument);
  const [start] = useState(() => readTexts(value));
  const [fields, setFields] = useState(start);
  const [mustRefuse, setMustRefuse] = useState(value?.mustRefuse === true);
  const error = add.error ?? update.error;
  const submit = async () => {
    const input: DatasetCaseInput = { ...readHidden(value), ...toInput(fields), mustRefuse: mustRefuse ? true : null };
    const reply =
      value === undefined ? await add.run({ datasetId, input }) : await update.run({ datasetId, caseId: value.id, input });
    if (reply !== undefined) onDone();
  };
  const area = (name: TextName, label: string, hint: string | undefined, rows: number) => (
    <Field
      label={label}
      {...(hint === undefined ? {} : { hint })}
      error={error?.faults.find(({ path }) => path?.split('.').includes(name))}
    >
      {(control) => (
        <TextArea
          {...control}
          rows={rows}
          value={fields[name]}
          onChange={(event) => setFields({ ...fields, [name]: event.target.value })}
        />
      )}
    </Field>
  );
  return (
    <PartDialog
      title={value === undefined ? t('New case') : t('Edit the case')}
      size="wide"
      isDirty={texts.some((name) => fields[name] !== start[name])}
      isBusy={add.isBusy || update.isBusy}
      error={errorBeside(error, texts)}
      onClose={onClose}
      onSubmit={() => void submit()}
      action={t('Save')}
    >
      {area('question', t('Question'), undefined, 2)}
      {area('mustContain', t('The answer must say'), t('A fact a line.'), 2)}
      {area('mustNotContain', t('The answer must not say'), t('A fact a line.'), 2)}
      {area('mustCite', t('It must cite'), t('A document a line, by its name.'), 2)}
      {area('expected', t('A good answer'), undefined, 3)}
      {area('rubric', t('What a judge weighs'), t('For experiments with a judge: what makes an answer good.'), 2)}
      {area('tags', t('Labels'), t('One a line. A gate can ask that no case with a label fails.'), 1)}
      <Field label={t('Weight')} error={error?.faults.find(({ path }) => path?.endsWith('weight'))}>
        {(control) => (
          <TextInput
            {...control}
            type="number"
            min={0}
            max={1_000}
            step="any"
            value={fields.weight}
            onChange={(event) => setFields({ ...fields, weight: event.target.value })}
          />
        )}
      </Field>
      <Checkbox
        label={t('A good answer says that it cannot answer')}
        checked={mustRefuse}
        onChange={(event) => setMustRefuse(event.target.checked)}
      />
    </PartDialog>
  );
}

function readTexts(value: CaseRowFragment | undefined): Readonly<Record<TextName, string>> {
  const lines = (list: readonly string[] | undefined) => (list ?? []).join('\n');
  return {
    question: value?.question ?? '',
    expected: value?.expected ?? '',
    mustContain: lines(value?.mustContain),
    mustNotContain: lines(value?.mustNotContain),
    mustCite: lines(value?.mustCite),
    rubric: value?.rubric ?? '',
    tags: lines(value?.tags),
    weight: String(value?.weight ?? 1),
  };
}

function toInput(fields: Readonly<Record<TextName, string>>) {
  const orNull = (text: string) => (text.trim() === '' ? null : text);
  return {
    question: fields.question,
    expected: orNull(fields.expected),
    mustContain: splitLines(fields.mustContain),
    mustNotContain: splitLines(fields.mustNotContain),
    mustCite: splitLines(fields.mustCite),
    rubric: orNull(fields.rubric),
    tags: splitLines(fields.tags),
    weight: Number(fields.weight),
  };
}

/** What the form does not show. */
function readHidden(value: CaseRowFragment | undefined): Partial<DatasetCaseInput> {
  if (value === undefined) return {};
  return {
    messages: value.messages.map(({ role, content }) => ({ role, content })),
    userInputs: value.userInputs.map(({ name, value: input }) => ({ name, value: input })),
    files: value.files.map(({ filename, text }) => ({ filename, text })),
    mustCall: value.mustCall.map(({ name, arguments: args }) => ({ name, arguments: args })),
    mustNotCall: value.mustNotCall,
    recordedCalls: value.recordedCalls.map(({ name, arguments: args, output, error }) => ({
      name,
      arguments: args,
      output,
      error,
    })),
    isDraft: false,
  };
}
