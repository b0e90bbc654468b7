import { z } from 'zod';
import type { WireObject } from '../../../entities/conversations/runs/response.ts';
import type { FaultNotes } from '../../../entities/ground/fault-notes.ts';
import { isObject } from '../../../lib/json/json.ts';
import { functionToolParam, responseToolParam } from '../../../wire/responses/tools.ts';

/** Spellings that are taken for the members of every tool of the service, and of some. */
const alsoTaken: Readonly<Record<string, readonly string[]>> = {
  require_approval: ['requireApproval'],
  include_x_search: ['includeXSearch'],
};
const filterMembers = ['tool_names', 'read_only'];
/** Members whose schema leaves open what an object in them has. */
const openObjects: Readonly<Record<string, readonly string[]>> = {
  allowed_tools: filterMembers,
  require_approval: ['always', 'never'],
  'require_approval.always': filterMembers,
  'require_approval.never': filterMembers,
  input_image_mask: ['image_url', 'file_id'],
};
const filesOfChat = 'the tool works with the files of the chat, by their names';
/** Members of the common format without an effect here. */
const unservedReasons: Readonly<Record<string, string>> = { file_id: filesOfChat, file_ids: filesOfChat };

/**
 * Notes every member of a tool that its type does not have, at any depth, and those without an effect here: a member that does nothing, such as a
 * mistyped `require_approval`, would pass for a rule.
 *
 * @param tool  as the responses format writes it.
 */
export function checkToolMembers(tool: WireObject, at: string, faults: FaultNotes): void {
  const option = responseToolParam.options.find(({ shape }) => shape.type.safeParse(tool.type).success);
  if (option === undefined) return;
  const owner = `the tool ${String(tool.type)}`;
  checkObject(tool, option, at, owner, faults);
  for (const [path, memberNames] of Object.entries(openObjects)) {
    const value = path.split('.').reduce<unknown>((inner, name) => (isObject(inner) ? inner[name] : undefined), tool);
    if (isObject(value)) checkNames(value, memberNames, `${at}.${path}`, path, faults);
  }
  for (const [name, reason] of Object.entries(unservedReasons)) {
    if (isGiven(tool[name]) && name in option.shape) refuse(`${at}.${name}`, reason, faults);
  }
  if ('container' in option.shape) checkContainer(tool.container, `${at}.container`, faults);
}

/**
 * Notes members of tools of the service on a function of the caller, where they do nothing. Members that nobody knows are ignored, as in other
 * parts of a request: the caller runs the function.
 */
export function checkFunctionMembers(tool: WireObject, at: string, faults: FaultNotes): void {
  for (const [name, value] of Object.entries(tool)) {
    if (!isGiven(value) || name in functionToolParam.shape || !membersOfService.has(name)) continue;
    refuse(`${at}.${name}`, 'the caller runs the function', faults);
  }
}

const membersOfService = new Set(
  responseToolParam.options
    .filter((option) => option !== functionToolParam)
    .flatMap(({ shape }) => Object.keys(shape))
    .flatMap((name) => [name, name.replaceAll(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase())])
    .concat('require_approval', 'include_x_search'),
);

/** Each run has a workspace of its own: there is no container to choose, nor one with other files or more memory. */
function checkContainer(container: unknown, at: string, faults: FaultNotes): void {
  if (typeof container === 'string') refuse(at, 'only {"type": "auto"} is served, which is the default', faults);
  if (!isObject(container)) return;
  checkNames(container, ['type'], at, 'container', faults);
  if (isGiven(container.type) && container.type !== 'auto') refuse(`${at}.type`, 'only "auto" is served', faults);
}

function checkObject(input: WireObject, schema: z.ZodObject, at: string, owner: string, faults: FaultNotes): void {
  const names = Object.keys(schema.shape);
  const memberNames = [
    ...names,
    ...Object.entries(alsoTaken).flatMap(([name, others]) => (hasEither(names, name, others) ? [name, ...others] : [])),
  ];
  checkNames(input, memberNames, at, owner, faults);
  for (const [name, inner] of Object.entries(schema.shape)) {
    const object = objectIn(inner);
    const value = input[name];
    if (object !== undefined && isObject(value)) checkObject(value, object, `${at}.${name}`, name, faults);
  }
}

function hasEither(names: readonly string[], name: string, others: readonly string[]): boolean {
  return names.includes(name) || others.some((other) => names.includes(other));
}

function checkNames(input: WireObject, memberNames: readonly string[], at: string, owner: string, faults: FaultNotes): void {
  for (const [name, value] of Object.entries(input)) {
    if (!isGiven(value) || memberNames.includes(name)) continue;
    const nameList = [...new Set(memberNames)].join(', ');
    refuse(`${at}.${name.slice(0, 100).toWellFormed()}`, `${owner} has ${nameList}`, faults);
  }
}

function refuse(place: string, reason: string, faults: FaultNotes): void {
  faults.add(place, `${place} has no effect: ${reason}`, 'UNSUPPORTED_VALUE');
}

/** The schema of an object that may be absent or null. */
function objectIn(schema: unknown): z.ZodObject | undefined {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return objectIn(schema.unwrap());
  return schema instanceof z.ZodObject ? schema : undefined;
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}
