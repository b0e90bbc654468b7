import type { FaultNotes } from '../../entities/ground/fault-notes.ts';
import type { Warning } from '../../entities/ground/warning.ts';
import { hasMembers } from '../../lib/json/json.ts';

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

export function camelName(name: string): string {
  return name.replace(/_([a-z])/g, (_underscore, letter: string) => letter.toUpperCase());
}

function isTextOnly(value: unknown): boolean {
  return Array.isArray(value) && value.length === 1 && value[0] === 'text';
}

function isEmpty(value: unknown): boolean {
  return hasMembers(value) && Object.keys(value).length === 0;
}
