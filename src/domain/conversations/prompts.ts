import { type Prompt, type PromptVisibility, promptVisibilities } from '../../entities/conversations/prompt.ts';
import { DomainError, tooLong } from '../../entities/ground/errors.ts';
import { isId } from '../../entities/ground/ids.ts';
import type { Page, PageRequest } from '../../entities/ground/page.ts';
import type { Caller } from '../../entities/people/caller.ts';
import { fillVariables, findVariables, type PromptVariable } from '../../lib/text/prompt-variables.ts';
import { oneLine, storableText } from '../../lib/text/text.ts';
import type { PromptWrite } from '../../storage/conversations/prompts/prompts.ts';
import type { Deps } from '../deps.ts';
import { isAdministrator, visibleGroups } from '../ground/access/access.ts';
import { Faults } from '../ground/faults.ts';

type Optional<T> = T | null | undefined;

/** Absent and null members are kept at a change. */
export interface PromptInput {
  readonly name?: Optional<string>;
  readonly command?: Optional<string>;
  readonly text?: Optional<string>;
  readonly visibility?: Optional<PromptVisibility>;
  readonly groupIds?: Optional<readonly string[]>;
}

/** A value for a variable of a prompt. */
export interface PromptValue {
  readonly name: string;
  readonly value: string;
}

export const promptBounds = {
  nameMax: 100,
  textMax: 20_000,
  variablesMax: 20,
  valueMax: 20_000,
  groupsMax: 100,
  promptsMax: 500,
} as const;
const searchMax = 200;
const commandShape = /^[a-z0-9][a-z0-9-]{0,39}$/;

/** @throws DomainError NOT_FOUND, also for one that the caller may not use. */
export async function getPrompt(deps: Deps, caller: Caller, id: string): Promise<Prompt> {
  const [prompt] = isId('prompt', id) ? await getPrompts(deps, caller, [id]) : [];
  if (prompt === undefined) throw missingPrompt();
  return prompt;
}

/** The prompts among `ids` that the caller may use, in any order. */
export function getPrompts(deps: Deps, caller: Caller, ids: readonly string[]): Promise<readonly Prompt[]> {
  return deps.storage.conversations.prompts.findMany(ids, caller);
}

/** The caller's prompts and those that are shared with it, newest first. @throws DomainError INVALID_VALUE for a search that is too long. */
export async function listPrompts(
  deps: Deps,
  caller: Caller,
  { search, onlyOwn }: { readonly search?: Optional<string>; readonly onlyOwn?: Optional<boolean> },
  page: PageRequest,
): Promise<Page<Prompt>> {
  const words = (search ?? '').trim();
  if (words.length > searchMax) throw tooLong('search', searchMax);
  const query = { search: words === '' ? undefined : words, onlyOwn: onlyOwn === true };
  return deps.storage.conversations.prompts.list(caller, query, page);
}

/** Whether the caller may change it. */
export function canEditPrompt({ userId, orgId }: Caller, prompt: Prompt): boolean {
  return prompt.userId === userId && prompt.orgId === orgId;
}

/** @throws DomainError naming every faulty member; CONFLICT for a command that another prompt of the caller has, and for one prompt too many. */
export async function createPrompt(deps: Deps, caller: Caller, input: PromptInput): Promise<Prompt> {
  const faults = new Faults();
  for (const member of ['name', 'command', 'text'] as const) {
    if (typeof input[member] !== 'string') faults.add(member, `${member} is required`, 'MISSING_REQUIRED_PARAMETER');
  }
  const changes = await readPrompt(deps, caller, input, faults);
  const { name = '', command = '', text = '', visibility = 'PRIVATE', groupIds = [] } = changes;
  const { orgId, userId } = caller;
  const row = { id: deps.newId('prompt'), createdAt: deps.now(), orgId, userId, name, command, text, visibility, groupIds };
  await deps.audit.change(caller, async () => {
    requireWritten(await deps.storage.conversations.prompts.create(row, promptBounds.promptsMax), command);
    return { id: row.id };
  });
  return getPrompt(deps, caller, row.id);
}

/** @throws DomainError NOT_FOUND; FORBIDDEN for one of somebody else; as `createPrompt`. */
export async function updatePrompt(deps: Deps, caller: Caller, id: string, input: PromptInput): Promise<Prompt> {
  const prompt = await getPrompt(deps, caller, id);
  if (!canEditPrompt(caller, prompt)) throw new DomainError('FORBIDDEN', 'Only its owner may change a prompt');
  const changes = await readPrompt(deps, caller, { ...input, ...readersAfter(prompt, input) }, new Faults());
  await deps.audit.change(caller, async () => {
    requireWritten(await deps.storage.conversations.prompts.update(id, caller, changes), changes.command ?? prompt.command);
    return { id };
  });
  return getPrompt(deps, caller, id);
}

/** Who may use a prompt after a change; nothing when the change says nothing of it. */
function readersAfter(prompt: Prompt, { visibility, groupIds }: PromptInput): Pick<PromptInput, 'visibility' | 'groupIds'> {
  const isKept = (visibility ?? groupIds ?? null) === null;
  if (isKept) return {};
  const after = visibility ?? prompt.visibility;
  return { visibility: after, groupIds: groupIds ?? (after === 'GROUP' ? prompt.groupIds : []) };
}

/** Deletes a prompt of the caller; administrators delete those that are shared with them. @returns what it was. @throws DomainError NOT_FOUND, FORBIDDEN. */
export async function deletePrompt(deps: Deps, caller: Caller, id: string): Promise<Prompt> {
  const prompt = await getPrompt(deps, caller, id);
  if (!canEditPrompt(caller, prompt) && !(isAdministrator(caller, prompt.orgId) && caller.scopes.has('ADMIN:WRITE'))) {
    throw new DomainError('FORBIDDEN', 'Only its owner and administrators may delete a prompt');
  }
  await deps.audit.change(caller, async () => {
    if (!(await deps.storage.conversations.prompts.delete(id))) throw missingPrompt();
    return prompt;
  });
  return prompt;
}

/**
 * The text of a prompt with values in place of its variables. A variable without a value gets its default.
 *
 * @throws DomainError NOT_FOUND; naming every variable that lacks a value, has one that is not among its choices, or is not in the text.
 */
export async function fillPrompt(deps: Deps, caller: Caller, id: string, values: readonly PromptValue[]): Promise<string> {
  const { text } = await getPrompt(deps, caller, id);
  const variables = findVariables(text);
  const faults = new Faults();
  const given = new Map<string, string>();
  for (const [index, { name, value }] of values.entries()) {
    if (!variables.some((variable) => variable.name === name))
      faults.add(`values[${index}].name`, `The prompt has no variable ${name}`);
    faults.requireLength(`values[${index}].value`, value, promptBounds.valueMax);
    given.set(name, storableText(value));
  }
  for (const variable of variables) {
    const value = given.get(variable.name);
    if (value === undefined || value.trim() === '') useDefault(variable, given, faults);
    else if (variable.choices.length > 0 && !variable.choices.includes(value)) {
      const place = `values[${values.findLastIndex(({ name }) => name === variable.name)}].value`;
      const sentence = `${variable.name} must be one of ${variable.choices.join(', ')}`;
      faults.add(place, sentence, 'INVALID_VALUE', { enum: variable.choices });
    }
  }
  faults.throwIfAny();
  return fillVariables(text, given);
}

function useDefault({ name, default: value }: PromptVariable, given: Map<string, string>, faults: Faults): void {
  if (value === null) faults.add('values', `${name} needs a value`, 'MISSING_REQUIRED_PARAMETER');
  else given.set(name, value);
}

/** The members that are there, without white space around them. @throws DomainError with every fault. */
async function readPrompt(deps: Deps, caller: Caller, input: PromptInput, faults: Faults) {
  const { name, command, text, visibility } = input;
  if (typeof name === 'string') faults.requireName('name', name, promptBounds.nameMax);
  if (typeof command === 'string' && !commandShape.test(command)) {
    faults.add('command', 'command must have 1 to 40 lower-case letters, digits and hyphens, and begin with a letter or digit');
  }
  if (typeof text === 'string') {
    faults.requireName('text', text, promptBounds.textMax);
    const count = findVariables(text.slice(0, promptBounds.textMax)).length;
    if (count > promptBounds.variablesMax)
      faults.add('text', `text must have at most ${promptBounds.variablesMax} variables, not ${count}`);
  }
  if (typeof visibility === 'string') faults.requireOneOf('visibility', visibility, promptVisibilities);
  const groupIds = await readGroups(deps, caller, input, faults);
  faults.throwIfAny();
  return {
    ...(typeof name === 'string' ? { name: oneLine(storableText(name)) } : {}),
    ...(typeof command === 'string' ? { command } : {}),
    ...(typeof text === 'string' ? { text: storableText(text).trim() } : {}),
    ...(typeof visibility === 'string' ? { visibility } : {}),
    ...(groupIds === undefined ? {} : { groupIds }),
  };
}

/** Only a prompt for groups has groups, which its owner can see. */
async function readGroups(
  deps: Deps,
  caller: Caller,
  { visibility, groupIds }: PromptInput,
  faults: Faults,
): Promise<readonly string[] | undefined> {
  if (visibility !== 'GROUP') {
    if ((groupIds ?? []).length > 0) faults.add('groupIds', 'groupIds must be left out unless visibility is GROUP');
    return visibility === undefined || visibility === null ? undefined : [];
  }
  const ids = [...new Set(groupIds ?? [])];
  if (ids.length === 0)
    faults.add('groupIds', 'groupIds must name a group while visibility is GROUP', 'MISSING_REQUIRED_PARAMETER');
  faults.requireCount('groupIds', ids, promptBounds.groupsMax);
  if (ids.length === 0 || ids.length > promptBounds.groupsMax) return [];
  const groups = await deps.storage.people.groups.findMany(ids, visibleGroups(caller));
  const visibleIds = new Set(groups.filter(({ orgId }) => orgId === caller.orgId).map(({ id }) => id));
  for (const [index, id] of ids.entries()) {
    if (!visibleIds.has(id)) faults.add(`groupIds[${index}]`, `groupIds[${index}] is not a group that you can see`);
  }
  return ids;
}

function requireWritten(result: PromptWrite, command: string): void {
  if (result === 'missing') throw missingPrompt();
  if (result === 'taken')
    throw new DomainError('CONFLICT', `Another prompt of yours has the command ${command}`, { param: 'command' });
  if (result === 'full')
    throw new DomainError('CONFLICT', `You have ${promptBounds.promptsMax} prompts: delete one first`, { param: 'name' });
}

function missingPrompt(): DomainError {
  return new DomainError('NOT_FOUND', 'There is no such prompt', { param: 'id' });
}
