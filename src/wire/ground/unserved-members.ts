import type { FaultNotes } from '../../entities/ground/fault-notes.ts';
import type { Warning } from '../../entities/ground/warning.ts';
import { hasMembers, isObject } from '../../lib/json/json.ts';

/**
 * Members of the common formats that this service does not serve. One that would change what is answered is refused; one that would change the cost,
 * the speed or what is kept elsewhere is a warning. docs/members.md has all members; a test holds it equal to the published formats.
 */
export interface UnservedMember {
  /** With underscores, as the format has it. */
  readonly name: string;
  /** The name that resolvers know. */
  readonly member: string;
  readonly effect: 'refused' | 'warning';
  /** Ends a sentence that begins with the name. */
  readonly reason: string;
  /** Whether a value that is not null asks for nothing. */
  isIdle(value: unknown): boolean;
}

const neverIdle = () => false;
const refusedMember = (name: string, reason: string, isIdle: UnservedMember['isIdle'] = neverIdle): UnservedMember => ({
  name,
  member: camelName(name),
  effect: 'refused',
  reason,
  isIdle,
});
const warnedMember = (name: string, reason: string, isIdle: UnservedMember['isIdle'] = neverIdle): UnservedMember => ({
  name,
  member: camelName(name),
  effect: 'warning',
  reason,
  isIdle,
});

const cacheMembers = [
  warnedMember('prompt_cache_retention', 'has no effect: how long a provider keeps its cache is its own setting'),
  warnedMember('prompt_cache_options', 'has no effect: providers decide what they cache'),
];
const moderation = refusedMember('moderation', 'is not served: nothing would be moderated');

export const unservedInCompletions: readonly UnservedMember[] = [
  refusedMember('functions', 'is not served: name them in tools'),
  refusedMember('function_call', 'is not served: use tool_choice'),
  refusedMember('web_search_options', 'is not served: name a tool of the type web_search in tools'),
  refusedMember('modalities', 'must be ["text"]: answers are text', isTextOnly),
  refusedMember('audio', 'is not served: answers are text'),
  moderation,
  warnedMember('prediction', 'has no effect: the model writes its whole answer itself'),
  warnedMember('store', 'has no effect: a completion is not kept; responses are', (value) => value === false),
  warnedMember('metadata', 'has no effect: a completion is not kept; responses are', isEmpty),
  ...cacheMembers,
];

export const unservedInResponses: readonly UnservedMember[] = [
  refusedMember('prompt', 'is not served: there are no prompt templates; send instructions and input'),
  moderation,
  refusedMember('personality', 'is not served: instructions say how the model speaks'),
  warnedMember('context_management', 'has no effect: truncation says what becomes of a long conversation'),
  warnedMember('access_programs', 'has no effect here'),
  warnedMember('image', 'has no effect here: the tool image_generation takes options of images'),
  ...cacheMembers,
];

export const unservedInCompletionMessages: readonly UnservedMember[] = [
  refusedMember('function_call', 'is not served: use tool_calls'),
  refusedMember('audio', 'is not served: answers are text'),
];

/** A member within a member: `tools[].async`. Its first segments are those of the format, or of the domain where the reader knows them. */
type UnservedPlace = Omit<UnservedMember, 'member'> & {
  /** Looks only into objects for which this is true. */
  isIn?(owner: Readonly<Record<string, unknown>>): boolean;
};

const isFalse = (value: unknown) => value === false;
const cacheBreakpoint = 'has no effect: providers decide what they cache';
const isFunction: UnservedPlace['isIn'] = ({ type }) => type === 'function';

export const unservedPlacesInCompletions: readonly UnservedPlace[] = [
  ...unservedInCompletionMessages.map((one) => ({ ...one, name: `messages[].${one.member}` })),
  warnedMember('messages[].content[].prompt_cache_breakpoint', cacheBreakpoint),
];

export const unservedPlacesInResponses: readonly UnservedPlace[] = [
  refusedMember('reasoning.mode', 'is not served: there is one mode, standard', (value) => value === 'standard'),
  warnedMember(
    'reasoning.context',
    'has no effect: the provider that thought them gets the thoughts of a conversation again',
    (value) => value === 'auto',
  ),
  { ...refusedMember('tools[].async', 'is not served: a call waits for its output', isFalse), isIn: isFunction },
  {
    ...refusedMember(
      'tools[].allowed_callers',
      'is not served: only the model itself calls functions',
      (value) => Array.isArray(value) && value.includes('direct'),
    ),
    isIn: isFunction,
  },
  { ...warnedMember('tools[].defer_loading', 'has no effect: the model gets every function at once', isFalse), isIn: isFunction },
  { ...warnedMember('tools[].output_schema', 'has no effect: models are not told of it'), isIn: isFunction },
  warnedMember('input[].namespace', 'has no effect: functions have no namespaces'),
  warnedMember('input[].caller', 'has no effect: only the model itself calls functions', isDirect),
  warnedMember('input[].async', 'has no effect: a call waits for its output', isFalse),
  warnedMember('input[].content[].prompt_cache_breakpoint', cacheBreakpoint),
  warnedMember('input[].output[].prompt_cache_breakpoint', cacheBreakpoint),
];

/** The Messages format writes its members with underscores. */
const asWritten = (member: UnservedMember): UnservedMember => ({ ...member, member: member.name });
export const unservedInMessages: readonly UnservedMember[] = [
  refusedMember('container', 'is not served: no code runs at the provider'),
  refusedMember('mcp_servers', 'is not served: connect the server to an agent, and name the agent as the model'),
  refusedMember('fallbacks', 'is not served: options of an agent say which models stand in'),
  refusedMember('output_format', 'is not served: use output_config.format'),
  refusedMember('compaction', 'is not served: the whole conversation is sent to the model'),
  // Clients that get this refusal send the whole conversation instead (messages/errors.ts).
  refusedMember('thread', 'is not served: nothing of a message is kept; send the whole conversation'),
  warnedMember('billing_policy', 'has no effect here'),
  warnedMember('fallback_credit_token', 'has no effect here'),
  warnedMember('context_management', 'has no effect: the whole conversation is sent to the model'),
  warnedMember('diagnostics', 'has no effect here'),
  warnedMember('inference_geo', 'has no effect: the installation decides where its models are'),
  warnedMember('speed', 'has no effect: there is one speed', (value) => value === 'standard'),
  warnedMember('user_profile_id', 'has no effect here'),
  warnedMember('workspace_id', 'has no effect: a key belongs to one organization'),
].map(asWritten);

/** Notes faults for members of a request that are refused. @returns warnings for those without effect. */
export function readUnserved(input: object, members: readonly UnservedMember[], faults: FaultNotes): readonly Warning[] {
  const values = input as Readonly<Record<string, unknown>>;
  const warnings: Warning[] = [];
  for (const { name, member, effect, reason, isIdle } of members) {
    const value = values[member];
    if (value === undefined || value === null || isIdle(value)) continue;
    const message = `${name} ${reason}`;
    if (effect === 'refused') faults.add(member, message, 'UNSUPPORTED_VALUE');
    else warnings.push({ code: 'option_not_supported', message, param: name });
  }
  return warnings;
}

/**
 * The same for members within members. Of the items of a list, the first that has the member is told.
 *
 * @returns warnings for those without effect.
 */
export function readUnservedPlaces(input: object, places: readonly UnservedPlace[], faults: FaultNotes): readonly Warning[] {
  return places.flatMap(({ name, effect, reason, isIdle, isIn }) => {
    const asks = (owner: Readonly<Record<string, unknown>>, value: unknown) =>
      value !== undefined && value !== null && !isIdle(value) && (isIn === undefined || isIn(owner));
    const param = findPlace(input, name.split('.'), asks);
    if (param === undefined) return [];
    const message = `${param} ${reason}`;
    if (effect === 'warning') return [{ code: 'option_not_supported', message, param }];
    faults.add(param, message, 'UNSUPPORTED_VALUE');
    return [];
  });
}

/** The first place of a path where `asks` is true: `tools[2].async` for `tools[].async`. */
function findPlace(
  value: unknown,
  [segment = '', ...rest]: readonly string[],
  asks: (owner: Readonly<Record<string, unknown>>, value: unknown) => boolean,
): string | undefined {
  if (!isObject(value)) return undefined;
  const name = segment.replace('[]', '');
  const inner = value[name];
  if (rest.length === 0) return asks(value, inner) ? name : undefined;
  if (name === segment) {
    const within = findPlace(inner, rest, asks);
    return within === undefined ? undefined : `${name}.${within}`;
  }
  if (!Array.isArray(inner)) return undefined;
  for (const [index, item] of inner.entries()) {
    const within = findPlace(item, rest, asks);
    if (within !== undefined) return `${name}[${index}].${within}`;
  }
  return undefined;
}

export function camelName(name: string): string {
  return name.replace(/_([a-z])/g, (_underscore, letter: string) => letter.toUpperCase());
}

function isTextOnly(value: unknown): boolean {
  return Array.isArray(value) && value.length === 1 && value[0] === 'text';
}

function isDirect(value: unknown): boolean {
  return isObject(value) && value.type === 'direct';
}

function isEmpty(value: unknown): boolean {
  return hasMembers(value) && Object.keys(value).length === 0;
}
