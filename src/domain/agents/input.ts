import type { Agent, AgentProfile, AgentView, AgentVisibility, PublicCategory } from '../../entities/agents/agent.ts';
import { type AgentOptionName, type AgentOptions, agentOptionList } from '../../entities/agents/options.ts';
import type { WireObject } from '../../entities/conversations/runs/response.ts';
import type { EnabledTool } from '../../entities/conversations/runs/tool.ts';
import type { Caller } from '../../entities/people/caller.ts';
import { isObject } from '../../lib/json/json.ts';
import type { AgentChanges } from '../../storage/agents/agents.ts';
import type { Deps } from '../deps.ts';
import { visibleGroups } from '../ground/access/access.ts';
import { Faults } from '../ground/faults.ts';
import { noteServersOfTools } from './parts/standing-servers.ts';
import { readStandingTools } from './tools/read.ts';

type Optional<T> = T | null | undefined;
type OptionalMembers<T> = { readonly [Name in keyof T]?: T[Name] | null | undefined };

/** Conversations are untyped JSON; each must be an object. */
type ProfileInput = OptionalMembers<Omit<AgentProfile, 'conversations'> & { readonly conversations: readonly unknown[] }>;

/** What a caller may set on an agent. Absent members are kept; null clears members that may be empty and is refused for others. */
export interface AgentInput {
  readonly src?: Optional<string>;
  readonly name?: Optional<string>;
  readonly description?: Optional<string>;
  readonly instructions?: Optional<string>;
  readonly introduction?: Optional<string>;
  readonly seed?: Optional<string>;
  readonly modelId?: Optional<string>;
  readonly visibility?: Optional<AgentVisibility>;
  readonly listInOrgCatalog?: Optional<boolean>;
  readonly listInPublicCatalog?: Optional<boolean>;
  readonly listInTenantCatalog?: Optional<boolean>;
  readonly chatLogsVisible?: Optional<boolean>;
  readonly generateCitations?: Optional<boolean>;
  readonly intermediateStepsVisible?: Optional<boolean>;
  /** Replaced as a whole. */
  readonly enabledTools?: Optional<readonly WireObject[]>;
  /** Replaced as a whole; absent and null members are unset. */
  readonly options?: Optional<OptionalMembers<AgentOptions>>;
  /** Replaced as a whole; absent and null members are unset. */
  readonly profile?: Optional<ProfileInput>;
  readonly groups?: Optional<readonly string[]>;
  readonly editors?: Optional<readonly EditorInput[]>;
  readonly publicCategories?: Optional<readonly PublicCategory[]>;
  readonly orgCategoryIds?: Optional<readonly string[]>;
}
/** A user by id, else by e-mail; the name is ignored. */
export interface EditorInput {
  readonly id?: Optional<string>;
  readonly email?: Optional<string>;
  readonly name?: Optional<string>;
}

const lengthsMax = {
  src: 200_000,
  name: 200,
  description: 10_000,
  instructions: 400_000,
  introduction: 20_000,
  seed: 20_000,
  modelId: 200,
} as const;
const requiredTexts = ['src', 'name', 'description', 'instructions'] as const;
const clearableTexts = ['introduction', 'seed'] as const;
const flags = [
  'listInOrgCatalog',
  'listInPublicCatalog',
  'listInTenantCatalog',
  'chatLogsVisible',
  'generateCitations',
  'intermediateStepsVisible',
] as const;

const optionValuesMax = 16;
const profileTextMax = 200_000;
const profileFeaturesMax = 50;
const profileConversationsMax = 100;
const editorsMax = 100;
const groupsMax = 100;
const categoriesMax = 100;

/**
 * The organization and owner of the agent, and its current groups and editors. New groups and editors must be of the same
 * organization; current ones may be given again, also by an editor who does not see that group. The same goes for MCP servers.
 */
type Place = Pick<Agent, 'orgId' | 'userId'> &
  Partial<Pick<AgentView, 'groupIds' | 'editors' | 'orgCategoryIds' | 'enabledTools'>>;

/**
 * Validates an input and converts it to the values that storage writes.
 *
 * @throws DomainError with every fault of the input.
 */
export async function readAgentInput(deps: Deps, caller: Caller, place: Place, input: AgentInput): Promise<AgentChanges> {
  const faults = new Faults();
  const changes: AgentChanges = {
    ...readTexts(input, faults),
    ...readFlags(input, faults),
    ...(input.enabledTools === undefined ? {} : { enabledTools: readEnabledTools(deps, input.enabledTools ?? [], faults) }),
    ...(input.options === undefined ? {} : { options: readOptions(input.options ?? {}, faults) }),
    ...(input.profile === undefined ? {} : { profile: input.profile === null ? null : readProfile(input.profile, faults) }),
    ...(await readCategories(deps, place, input, faults)),
    ...(await readModel(deps, input, faults)),
    ...(await readGroups(deps, caller, place, input, faults)),
    ...(await readEditors(deps, place, input, faults)),
  };
  const tools = { given: changes.enabledTools ?? [], before: place.enabledTools ?? [] };
  noteServersOfTools(deps, caller, place, tools, faults);
  faults.throwIfAny();
  return changes;
}

/** Notes the faults that show without a look at the database, of the members that are there. */
export function checkAgentInput(input: AgentInput, faults: Faults): void {
  readTexts(input, faults);
  readFlags(input, faults);
  readOptions(input.options ?? {}, faults);
  if (isObject(input.profile)) readProfile(input.profile, faults);
  faults.requireCount('publicCategories', input.publicCategories ?? [], categoriesMax);
  faults.requireCount('orgCategoryIds', input.orgCategoryIds ?? [], categoriesMax);
  faults.requireCount('groups', input.groups ?? [], groupsMax);
  faults.requireCount('editors', input.editors ?? [], editorsMax);
}

function readTexts(input: AgentInput, faults: Faults): AgentChanges {
  const texts: Record<string, string | null> = {};
  for (const name of requiredTexts) {
    const text = input[name];
    if (text === undefined) continue;
    if (text === null) faults.add(name, `${name} cannot be null`);
    else texts[name] = name === 'name' ? text.trim() : text;
  }
  for (const name of clearableTexts) {
    const text = input[name];
    if (text !== undefined) texts[name] = text;
  }
  for (const [name, text] of Object.entries(texts)) {
    if (name === 'name') faults.requireName(name, text ?? '', lengthsMax.name);
    else faults.requireLength(name, text ?? '', lengthsMax[name as keyof typeof lengthsMax]);
  }
  requirePicture('src', input.src, faults);
  return texts;
}

/** Browsers leave out control characters and blanks before an address, and tabs and ends of lines anywhere in it. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is left out.
const ignoredInAddress = /^[\u0000-\u0020]+|[\t\n\r]/g;
const schemeOfAddress = /^[a-z][a-z0-9+.-]*:/i;
const pictureSchemes = /^(?:https?:|data:(?:image|video)\/)/i;

/** Notes an address that a page could show as a picture, but with a scheme that does something else: `javascript:` runs what follows. */
function requirePicture(name: string, address: Optional<string>, faults: Faults): void {
  const text = (address ?? '').replace(ignoredInAddress, '');
  if (!schemeOfAddress.test(text) || pictureSchemes.test(text)) return;
  faults.add(name, `${name} must be an http or https address, or a data URL of a picture or a video`);
}

function readFlags(input: AgentInput, faults: Faults): AgentChanges {
  const values: Record<string, boolean> = {};
  for (const name of flags) {
    const value = input[name];
    if (value === null) faults.add(name, `${name} cannot be null`);
    else if (value !== undefined) values[name] = value;
  }
  if (input.visibility === null) faults.add('visibility', 'visibility cannot be null');
  return input.visibility === undefined || input.visibility === null ? values : { ...values, visibility: input.visibility };
}

const enabledToolsMax = 20;

/** A tool that this instance cannot run may be kept: an agent may be moved to one that can. Its runs say so. */
export function readEnabledTools(
  { tools }: Pick<Deps, 'tools'>,
  given: readonly WireObject[],
  faults: Faults,
): readonly EnabledTool[] {
  faults.requireCount('enabledTools', given, enabledToolsMax);
  return readStandingTools(given.slice(0, enabledToolsMax), 'enabledTools', tools, faults);
}

function readOptions(input: OptionalMembers<AgentOptions>, faults: Faults): AgentOptions {
  const options: Partial<Record<AgentOptionName, readonly number[]>> = {};
  for (const { name, ...bounds } of agentOptionList) {
    const values = input[name];
    if (values === undefined || values === null) continue;
    faults.requireCount(`options.${name}`, values, optionValuesMax);
    for (const [index, value] of values.slice(0, optionValuesMax).entries()) {
      faults.requireRange(`options.${name}[${index}]`, value, bounds, bounds.isWhole ? 'a whole number' : 'a number');
    }
    options[name] = values;
  }
  return options;
}

function readProfile(input: ProfileInput, faults: Faults): AgentProfile {
  const profile = Object.fromEntries(Object.entries(input).filter(([, value]) => value !== null && value !== undefined));
  for (const [name, value] of Object.entries(profile)) {
    if (typeof value === 'string') faults.requireLength(`profile.${name}`, value, profileTextMax);
  }
  requirePicture('profile.socialImage', input.socialImage, faults);
  requirePicture('profile.idleVideo', input.idleVideo, faults);
  faults.requireCount('profile.features', input.features ?? [], profileFeaturesMax);
  faults.requireCount('profile.conversations', input.conversations ?? [], profileConversationsMax);
  for (const [index, { title, description }] of (input.features ?? []).entries()) {
    faults.requireLength(`profile.features[${index}].title`, title, profileTextMax);
    faults.requireLength(`profile.features[${index}].description`, description, profileTextMax);
  }
  for (const [index, conversation] of (input.conversations ?? []).entries()) {
    if (!isObject(conversation))
      faults.add(`profile.conversations[${index}]`, `profile.conversations[${index}] must be an object`);
  }
  return profile;
}

async function readCategories(deps: Deps, place: Place, input: AgentInput, faults: Faults): Promise<AgentChanges> {
  const { publicCategories, orgCategoryIds } = input;
  faults.requireCount('publicCategories', publicCategories ?? [], categoriesMax);
  faults.requireCount('orgCategoryIds', orgCategoryIds ?? [], categoriesMax);
  const ids = [...new Set(orgCategoryIds ?? [])].slice(0, categoriesMax);
  if (ids.length > 0) {
    const storedCategories = await deps.storage.agents.categories.findMany(ids, place.orgId);
    const allowedIds = new Set([...storedCategories.map(({ id }) => id), ...(place.orgCategoryIds ?? [])]);
    for (const [index, id] of (orgCategoryIds ?? []).slice(0, categoriesMax).entries()) {
      if (allowedIds.has(id)) continue;
      const name = `orgCategoryIds[${index}]`;
      faults.add(name, `${name} is not a category of the organization; GET /api/v1/ai-categories lists them`);
    }
  }
  return {
    ...(publicCategories === undefined ? {} : { publicCategories: [...new Set(publicCategories)] }),
    ...(orgCategoryIds === undefined ? {} : { orgCategoryIds: ids }),
  };
}

/** Stored as a full id, so that a bare name that becomes ambiguous later still means the same model. */
async function readModel(deps: Deps, { modelId }: AgentInput, faults: Faults): Promise<AgentChanges> {
  if (modelId === undefined) return {};
  if (modelId === null) return { modelId };
  const model = modelId.length > lengthsMax.modelId ? undefined : await deps.models.find(modelId);
  if (model === undefined) faults.add('modelId', 'modelId names no model of this service; GET /api/v1/models lists them');
  return { modelId: model?.id ?? null };
}

async function readGroups(deps: Deps, caller: Caller, place: Place, input: AgentInput, faults: Faults): Promise<AgentChanges> {
  if (input.groups === undefined) return {};
  const ids = [...new Set(input.groups ?? [])];
  faults.requireCount('groups', ids, groupsMax);
  if (ids.length === 0 || ids.length > groupsMax) return { groupIds: [] };
  const storedGroups = await deps.storage.people.groups.findMany(ids, {
    all: [{ group: 'in-organization', orgId: place.orgId }, visibleGroups(caller)],
  });
  const allowedIds = new Set([...storedGroups.map(({ id }) => id), ...(place.groupIds ?? [])]);
  for (const [index, id] of (input.groups ?? []).entries()) {
    if (!allowedIds.has(id)) faults.add(`groups[${index}]`, `groups[${index}] is not a group that you can see`);
  }
  return { groupIds: ids };
}

/** Editors must be members of the agent's organization: others could never reach the agent. The owner is not listed. */
async function readEditors(deps: Deps, place: Place, input: AgentInput, faults: Faults): Promise<AgentChanges> {
  if (input.editors === undefined) return {};
  const editors = input.editors ?? [];
  faults.requireCount('editors', editors, editorsMax);
  if (editors.length === 0 || editors.length > editorsMax) return { editorIds: [] };
  const ids = editors.flatMap(({ id }) => (isGiven(id) ? [id] : []));
  const emails = editors.flatMap(({ email }) => (isGiven(email) ? [email] : []));
  const members = [...(await deps.storage.people.accounts.findMembers(place.orgId, { ids, emails })), ...(place.editors ?? [])];
  const memberIds = editors.map(({ id, email }, index) => {
    const member = members.find((user) => (isGiven(id) ? user.id === id : user.email === email?.trim().toLowerCase()));
    if (member === undefined) {
      faults.add(`editors[${index}]`, `editors[${index}] names no member of the organization by id or e-mail`);
    }
    return member?.id;
  });
  return { editorIds: [...new Set(memberIds)].filter((id) => id !== undefined && id !== place.userId) as string[] };
}

function isGiven(text: Optional<string>): text is string {
  return text !== undefined && text !== null && text !== '';
}
