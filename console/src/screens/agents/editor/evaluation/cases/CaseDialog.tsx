import { useState } from 'react';
import { useMutate } from '../../../../../graphql/hooks.ts';
import { useText } from '../../../../../text/text.ts';
import { errorBeside, findFault } from '../../../../../ui/form/faults/find.ts';
import { Checkbox } from '../../../../../ui/form/field.tsx';
import { TextAreaField, TextField } from '../../../../../ui/form/fields.tsx';
import { PartDialog } from '../../parts/PartDialog.tsx';
import { splitLines } from '../../parts/words.ts';

import { AddCaseDocument, type CaseRowFragment, type DatasetCaseInput, UpdateCaseDocument } from '../documents.ts';
import { CaseRows, type CaseRowsWords, type Column } from './CaseRows.tsx';
import { type CaseListName, createRow, readLists, toLists } from './lists.ts';

interface Props {
  readonly datasetId: string;
  /** Undefined: a new one. */
  readonly value: CaseRowFragment | undefined;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

const texts = [
  'question',
  'expected',
  'mustContain',
  'mustNotContain',
  'mustCite',
  'mustNotCall',
  'rubric',
  'tags',
  'weight',
] as const;
type TextName = (typeof texts)[number];
/** As the service bounds them. */
const listBounds: Readonly<Record<CaseListName, number>> = {
  messages: 100,
  files: 10,
  userInputs: 100,
  mustCall: 50,
  recordedCalls: 50,
};
/** Where a fault of an item stands beside its field. */
const listPlaces = ['role', 'content', 'filename', 'text', 'name', 'arguments', 'output', 'error'];

/** A question with what comes with it, and what a good answer must be. */
export function CaseDialog({ datasetId, value, onClose, onDone }: Props) {
  const { t } = useText();
  const add = useMutate(AddCaseDocument);
  const update = useMutate(UpdateCaseDocument);
  const [start] = useState(() => readTexts(value));
  const [fields, setFields] = useState(start);
  const [startLists] = useState(() => readLists(value));
  const [lists, setLists] = useState(startLists);
  const [mustRefuse, setMustRefuse] = useState(value?.mustRefuse === true);
  const error = add.error ?? update.error;
  const hasFault = (places: readonly string[]) => places.some((place) => findFault(error, place) !== undefined);
  // Open from the beginning where there is something, and as soon as something in it is refused.
  const context = ['messages', 'files', 'userInputs'] as const;
  const hasContext = context.some((name) => startLists[name].length > 0) || hasFault(context);
  const calls = ['mustCall', 'mustNotCall', 'recordedCalls'] as const;
  const hasCalls = [...startLists.mustCall, ...startLists.recordedCalls, ...start.mustNotCall].length > 0 || hasFault(calls);
  const submit = async () => {
    const input: DatasetCaseInput = {
      ...{ ...toInput(fields), ...toLists(lists), mustRefuse: mustRefuse ? true : null },
      // Whoever saves a draft has looked at it.
      ...(value === undefined ? {} : { isDraft: false }),
    };
    const reply =
      value === undefined ? await add.run({ datasetId, input }) : await update.run({ datasetId, caseId: value.id, input });
    if (reply !== undefined) onDone();
  };
  const area = (name: TextName, label: string, hint: string | undefined, rows: number) => (
    <TextAreaField
      label={label}
      {...(hint === undefined ? {} : { hint })}
      error={error?.faults.find(({ path }) => path?.split('.').includes(name))}
      rows={rows}
      value={fields[name]}
      onChange={(value) => setFields({ ...fields, [name]: value })}
    />
  );
  const rows = (name: CaseListName, words: CaseRowsWords, columns: readonly Column[]) => (
    <CaseRows
      {...words}
      rows={lists[name]}
      columns={columns}
      most={listBounds[name]}
      blank={() => createRow(name === 'messages' ? { role: 'USER' } : {})}
      fault={(index, column) => findFault(error, `${name}.${index}.${column}`)}
      onChange={(changed) => setLists({ ...lists, [name]: changed })}
    />
  );
  const tool = { name: 'name', label: t('Name of the tool') };
  return (
    <PartDialog
      title={value === undefined ? t('New case') : t('Edit the case')}
      size="wide"
      isDirty={
        texts.some((name) => fields[name] !== start[name]) || lists !== startLists || mustRefuse !== (value?.mustRefuse === true)
      }
      isBusy={add.isBusy || update.isBusy}
      error={errorBeside(error, [...texts, ...listPlaces])}
      onClose={onClose}
      onSubmit={() => void submit()}
      action={t('Save')}
    >
      {area('question', t('Question'), undefined, 2)}
      <details open={hasContext}>
        <summary>{t('What comes with the question')}</summary>
        {rows(
          'messages',
          {
            legend: t('Said before'),
            note: t('What was said before the question, oldest first.'),
            add: t('Add a message'),
            label: (index) => t('Message {number}', { number: index + 1 }),
          },
          [
            {
              name: 'role',
              label: t('Who said it'),
              kind: {
                options: [
                  { value: 'USER', label: t('The person who asks') },
                  { value: 'ASSISTANT', label: t('The agent') },
                ],
              },
            },
            { name: 'content', label: t('What was said'), kind: 'text' },
          ],
        )}
        {rows(
          'files',
          {
            legend: t('Documents'),
            add: t('Add a document'),
            label: (index) => t('Document {number}', { number: index + 1 }),
          },
          [
            { name: 'filename', label: t('Name of the file') },
            { name: 'text', label: t('Its text'), kind: 'text' },
          ],
        )}
        {rows(
          'userInputs',
          {
            legend: t('Values of user inputs'),
            add: t('Add a value'),
            label: (index) => t('Value {number}', { number: index + 1 }),
          },
          [
            { name: 'name', label: t('Variable name') },
            { name: 'value', label: t('Its value'), hint: t('A number, true, false, or a text. "5" in quotes is a text.') },
          ],
        )}
      </details>
      {area('mustContain', t('The answer must say'), t('A fact a line.'), 2)}
      {area('mustNotContain', t('The answer must not say'), t('A fact a line.'), 2)}
      {area('mustCite', t('It must cite'), t('A document a line, by its name.'), 2)}
      <details open={hasCalls}>
        <summary>{t('Calls of tools')}</summary>
        {rows(
          'mustCall',
          {
            legend: t('It must call'),
            add: t('Add a call that it must make'),
            label: (index) => t('Call {number}', { number: index + 1 }),
          },
          [
            tool,
            {
              name: 'arguments',
              label: t('Arguments that the call must have'),
              hint: t('A JSON object. Empty: any.'),
              kind: 'text',
            },
          ],
        )}
        {area('mustNotCall', t('It must not call'), t('The name of a tool a line.'), 2)}
        {rows(
          'recordedCalls',
          {
            legend: t('What tools give'),
            note: t('Tools that change something are not called: they give what stands here.'),
            add: t('Add what a tool gives'),
            label: (index) => t('Output {number}', { number: index + 1 }),
          },
          [
            tool,
            { name: 'arguments', label: t('Arguments'), hint: t('JSON. Empty: whatever the arguments are.'), kind: 'text' },
            { name: 'output', label: t('What it gives'), kind: 'text' },
            { name: 'error', label: t('Why it fails'), hint: t('Empty: it does not fail.') },
          ],
        )}
      </details>
      {area('expected', t('A good answer'), undefined, 3)}
      {area('rubric', t('What a judge weighs'), t('For experiments with a judge: what makes an answer good.'), 2)}
      {area('tags', t('Labels'), t('One a line. A gate can ask that no case with a label fails.'), 1)}
      <TextField
        label={t('Weight')}
        error={error?.faults.find(({ path }) => path?.endsWith('weight'))}
        type="number"
        min={0}
        max={1_000}
        step="any"
        value={fields.weight}
        onChange={(weight) => setFields({ ...fields, weight })}
      />
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
    mustNotCall: lines(value?.mustNotCall),
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
    mustNotCall: splitLines(fields.mustNotCall),
    rubric: orNull(fields.rubric),
    tags: splitLines(fields.tags),
    weight: Number(fields.weight),
  };
}
