import { useState } from 'react';
import { useMutate } from '../../../../../graphql/hooks.ts';
import { errorBeside, findFault } from '../../../../../ui/form/faults/find.ts';
import type { FieldError } from '../../../../../ui/form/field.tsx';
import { splitLines } from '../../parts/words.ts';
import { AddCaseDocument, type CaseRowFragment, type DatasetCaseInput, UpdateCaseDocument } from '../documents.ts';
import { type CaseListName, type CaseListRow, readLists, toLists } from './lists.ts';

const textNames = [
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
export type CaseTextName = (typeof textNames)[number];
type CaseTexts = Readonly<Record<CaseTextName, string>>;

/** Where a fault of an item of a list stands beside its field. */
const listPlaces = ['role', 'content', 'filename', 'text', 'name', 'arguments', 'output', 'error'];

export type CaseForm = ReturnType<typeof useCaseForm>;

/** What is typed of a case, and how it is saved. */
export function useCaseForm(datasetId: string, value: CaseRowFragment | undefined) {
  const add = useMutate(AddCaseDocument);
  const update = useMutate(UpdateCaseDocument);
  const [start] = useState(() => readFields(value));
  const [fields, setFields] = useState(start);
  const error = add.error ?? update.error;
  /** @returns whether the service has it. */
  const save = async (): Promise<boolean> => {
    const input: DatasetCaseInput = {
      ...{ ...toInput(fields.texts), ...toLists(fields.lists), mustRefuse: fields.mustRefuse ? true : null },
      // Whoever saves a draft has looked at it.
      ...(value === undefined ? {} : { isDraft: false }),
    };
    const reply =
      value === undefined ? await add.run({ datasetId, input }) : await update.run({ datasetId, caseId: value.id, input });
    return reply !== undefined;
  };
  return {
    start,
    fields,
    isDirty:
      textNames.some((name) => fields.texts[name] !== start.texts[name]) ||
      fields.lists !== start.lists ||
      fields.mustRefuse !== start.mustRefuse,
    isBusy: add.isBusy || update.isBusy,
    /** What no field shows. */
    error: errorBeside(error, [...textNames, ...listPlaces]),
    findFault: (place: string): FieldError => findFault(error, place),
    setText: (name: CaseTextName, text: string) => setFields({ ...fields, texts: { ...fields.texts, [name]: text } }),
    setList: (name: CaseListName, rows: readonly CaseListRow[]) =>
      setFields({ ...fields, lists: { ...fields.lists, [name]: rows } }),
    setMustRefuse: (mustRefuse: boolean) => setFields({ ...fields, mustRefuse }),
    save,
  };
}

function readFields(value: CaseRowFragment | undefined) {
  return { texts: readTexts(value), lists: readLists(value), mustRefuse: value?.mustRefuse === true };
}

function readTexts(value: CaseRowFragment | undefined): CaseTexts {
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

function toInput(texts: CaseTexts) {
  const orNull = (text: string) => (text.trim() === '' ? null : text);
  return {
    question: texts.question,
    expected: orNull(texts.expected),
    mustContain: splitLines(texts.mustContain),
    mustNotContain: splitLines(texts.mustNotContain),
    mustCite: splitLines(texts.mustCite),
    mustNotCall: splitLines(texts.mustNotCall),
    rubric: orNull(texts.rubric),
    tags: splitLines(texts.tags),
    weight: Number(texts.weight),
  };
}
