import type { CaseRowFragment, DatasetCaseInput } from '../documents.ts';

/** An item of a list of a case as the form has it: texts by member, and a key that stays the same while it is edited. */
export interface CaseListRow {
  readonly key: string;
  readonly values: Readonly<Record<string, string>>;
}

/** The lists of a case whose items have several members. */
export const caseListNames = ['messages', 'files', 'userInputs', 'mustCall', 'recordedCalls'] as const;
export type CaseListName = (typeof caseListNames)[number];
export type CaseLists = Readonly<Record<CaseListName, readonly CaseListRow[]>>;

let lastKey = 0;

export function createRow(values: CaseListRow['values']): CaseListRow {
  lastKey += 1;
  return { key: String(lastKey), values };
}

export function readLists(value: CaseRowFragment | undefined): CaseLists {
  return {
    messages: (value?.messages ?? []).map(({ role, content }) => createRow({ role, content })),
    files: (value?.files ?? []).map(({ filename, text }) => createRow({ filename, text })),
    userInputs: (value?.userInputs ?? []).map(({ name, value: input }) => createRow({ name, value: writePlain(input) })),
    mustCall: (value?.mustCall ?? []).map(({ name, arguments: args }) => createRow({ name, arguments: args ?? '' })),
    recordedCalls: (value?.recordedCalls ?? []).map(({ name, arguments: args, output, error }) =>
      createRow({ name, arguments: args, output, error: error ?? '' }),
    ),
  };
}

export function toLists(lists: CaseLists): Required<Pick<DatasetCaseInput, CaseListName>> {
  const orNull = (text: string | undefined) => (text === undefined || text.trim() === '' ? null : text);
  return {
    messages: lists.messages.map(({ values: { role, content = '' } }) => ({
      role: role === 'ASSISTANT' ? 'ASSISTANT' : 'USER',
      content,
    })),
    files: lists.files.map(({ values: { filename = '', text = '' } }) => ({ filename, text })),
    userInputs: lists.userInputs.map(({ values: { name = '', value = '' } }) => ({ name, value: readPlain(value) })),
    mustCall: lists.mustCall.map(({ values: { name = '', arguments: args } }) => ({ name, arguments: orNull(args) })),
    recordedCalls: lists.recordedCalls.map(({ values: { name = '', arguments: args, output = '', error } }) => ({
      name,
      arguments: orNull(args),
      output,
      error: orNull(error),
    })),
  };
}

/** A value of a user input from what was typed: a number, true, false, or a text. A text in quotes is that text. */
export function readPlain(typed: string): string | number | boolean {
  const value = parsePlain(typed);
  return value === undefined ? typed : value;
}

/** As `readPlain` reads it. */
export function writePlain(value: unknown): string {
  return typeof value === 'string' && parsePlain(value) === undefined ? value : JSON.stringify(value);
}

function parsePlain(typed: string): string | number | boolean | undefined {
  try {
    const value: unknown = JSON.parse(typed);
    return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : undefined;
  } catch {
    return undefined;
  }
}
