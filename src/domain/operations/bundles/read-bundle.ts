import { essentialMembers, readSourceData } from '../../../engine/knowledge/source-data.ts';
import type { SecretMatch } from '../../../engine/tools/secrets/secrets-in-data.ts';
import type { AgentView } from '../../../entities/agents/agent.ts';
import { bundleVersion } from '../../../entities/agents/bundle.ts';
import {
  type AgentSkill,
  type AgentToolType,
  type JsonObject,
  type SecretType,
  secretKeysIn,
} from '../../../entities/agents/part.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import type { DataSourceType, RefreshPeriod } from '../../../entities/knowledge/data-source.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import type { AgentChanges } from '../../../storage/agents/agents.ts';
import { partCountsMax } from '../../../storage/agents/parts/shapes.ts';
import { type CreateFlowInput, readFlow } from '../../agents/flows.ts';
import { type AgentInput, readAgentInput } from '../../agents/input.ts';
import { dataBounds, readJsonObject } from '../../agents/parts/json.ts';
import { readToolData, secretBytesMax } from '../../agents/parts/tool-data.ts';
import { readSecretKey } from '../../agents/secrets.ts';
import { type CreateSkillInput, readSkill } from '../../agents/skills.ts';
import { readToolName } from '../../agents/tools.ts';
import { type CreateUserInputInput, readUserInput } from '../../agents/user-inputs.ts';
import type { Deps } from '../../deps.ts';
import { Faults } from '../../ground/faults.ts';
import { type BundledDatasetInput, type BundledGateInput, type ReadEvaluation, readEvaluation } from './evaluation.ts';
import { itemsPerSourceMax } from './export.ts';
import { portableData } from './portable-data.ts';

type Maybe<T> = T | null | undefined;

/** A bundle as the schema accepts it; absent and null lists are empty. */
export interface BundleInput {
  readonly version: string;
  readonly agent: Omit<AgentInput, 'groups' | 'editors' | 'publicCategories' | 'orgCategoryIds'> & {
    readonly name: string;
    readonly description: string;
    readonly instructions: string;
    readonly src: string;
  };
  readonly tools?: Maybe<readonly { readonly name: string; readonly type: AgentToolType; readonly data?: unknown }[]>;
  readonly userInputs?: Maybe<readonly CreateUserInputInput[]>;
  readonly flows?: Maybe<readonly CreateFlowInput[]>;
  readonly dataSources?: Maybe<readonly BundledSourceInput[]>;
  readonly skills?: Maybe<readonly CreateSkillInput[]>;
  readonly requiredSecrets?: Maybe<
    readonly { readonly key: string; readonly description?: Maybe<string>; readonly secretType?: Maybe<SecretType> }[]
  >;
  readonly datasets?: Maybe<readonly BundledDatasetInput[]>;
  readonly gate?: Maybe<BundledGateInput>;
}
export interface BundledSourceInput {
  readonly name: string;
  readonly type: DataSourceType;
  readonly refreshPeriod?: Maybe<RefreshPeriod>;
  readonly data?: unknown;
  readonly knowledgeItems?: Maybe<readonly BundledItemInput[]>;
}
export interface BundledItemInput {
  readonly name?: Maybe<string>;
  readonly uniqueId?: Maybe<string>;
  readonly blobUrl?: Maybe<string>;
  readonly filename?: Maybe<string>;
  readonly mimeType?: Maybe<string>;
}
export interface ImportInput {
  readonly bundle: BundleInput;
  readonly name?: Maybe<string>;
  /** Values by the keys of requiredSecrets. */
  readonly secrets?: unknown;
}

/** A valid bundle. */
export interface ReadBundle extends ReadEvaluation {
  readonly agent: AgentChanges & Pick<AgentView, 'name' | 'description' | 'instructions' | 'src'>;
  readonly tools: readonly { readonly name: string; readonly type: AgentToolType; readonly data: JsonObject }[];
  readonly userInputs: readonly ReturnType<typeof readUserInput>[];
  readonly flows: readonly ReturnType<typeof readFlow>[];
  readonly skills: readonly Pick<AgentSkill, 'name' | 'description' | 'content' | 'enabled'>[];
  readonly secrets: readonly ReadSecret[];
  readonly dataSources: readonly ReadSource[];
}
export interface ReadSecret {
  readonly key: string;
  readonly description: string;
  readonly secretType: SecretType;
  readonly value: string | undefined;
  readonly isDerived: boolean;
}
export interface ReadSource {
  readonly name: string;
  readonly type: DataSourceType;
  readonly refreshPeriod: RefreshPeriod;
  readonly data: JsonObject;
  /** Of the given data. */
  readonly leftOut: { readonly isCredential: boolean; readonly members: readonly string[] };
  readonly items: readonly { readonly [Name in keyof BundledItemInput]-?: string }[];
}

const nameLengthMax = 200;
const itemTextMax = 2_000;
const itemsMax = 20_000;
const secretDescriptionMax = 2_000;

/**
 * Validates a whole bundle before anything of it is written.
 *
 * @param modelId  the model of the new agent: the bundle's, or its replacement.
 * @throws DomainError of the first fault, carrying all of them, each with the place in the bundle.
 */
export async function readBundle(
  deps: Deps,
  caller: Caller,
  { bundle, name, secrets }: ImportInput,
  modelId: string,
): Promise<ReadBundle> {
  const faults = new Faults();
  if (bundle.version !== bundleVersion) {
    faults.add('bundle.version', `bundle.version must be "${bundleVersion}", the one version that this service reads`);
    faults.throwIfAny();
  }
  if (name !== undefined && name !== null) faults.requireName('name', name, nameLengthMax);
  const agent = await readAgent(deps, caller, bundle, name, modelId, faults);
  const { tools, found: secretMatches } = readTools(bundle.tools ?? [], faults);
  const userInputs = readList(
    'userInputs',
    bundle.userInputs,
    partCountsMax.userInputs,
    faults,
    readUserInput,
    ({ variableName }) => variableName,
    'variableName',
  );
  const names = new Set(userInputs.map(({ variableName }) => variableName));
  const readOne = (prefix: string, flow: CreateFlowInput, flowFaults: Faults) => readFlow(prefix, flow, flowFaults, names);
  const flows = readList('flows', bundle.flows, partCountsMax.flows, faults, readOne, (flow) => flow.name, 'name');
  const skills = readList('skills', bundle.skills, partCountsMax.skills, faults, readSkill, (skill) => skill.name, 'name');
  const dataSources = readSources(deps, bundle.dataSources ?? [], faults);
  const read = readSecrets(bundle.requiredSecrets ?? [], tools, secretMatches, secrets, faults);
  const evaluation = await readEvaluation(deps, bundle.datasets ?? [], bundle.gate, faults);
  faults.throwIfAny();
  return { agent, tools, userInputs, flows, skills, secrets: read, dataSources, ...evaluation };
}

/** Applies the rules of every agent; faults name the place in the bundle. */
async function readAgent(
  deps: Deps,
  caller: Caller,
  { agent }: BundleInput,
  name: Maybe<string>,
  modelId: string,
  faults: Faults,
): Promise<ReadBundle['agent']> {
  const agentInput = {
    ...Object.fromEntries(Object.entries(agent).filter(([, value]) => value !== null)),
    modelId,
    ...(typeof name === 'string' ? { name } : {}),
  };
  const base = { name: agent.name, description: agent.description, instructions: agent.instructions, src: agent.src };
  try {
    return { ...base, ...(await readAgentInput(deps, caller, caller, agentInput)) };
  } catch (error) {
    if (!(error instanceof DomainError) || error.detail.faults === undefined) throw error;
    for (const { param, message, code } of error.detail.faults) {
      // The override was checked under its own name.
      if (param === 'name' && typeof name === 'string') continue;
      faults.add(`bundle.agent.${param}`, message.startsWith(param) ? `bundle.agent.${message}` : message, code);
    }
    return base;
  }
}

interface ReadTools {
  readonly tools: ReadBundle['tools'];
  readonly found: readonly SecretMatch[];
}

/** A secret found in one tool does not get a key that another tool refers to. */
function readTools(toolInputs: NonNullable<BundleInput['tools']>, faults: Faults): ReadTools {
  faults.requireCount('bundle.tools', toolInputs, partCountsMax.tools);
  const toolSlice = toolInputs.slice(0, partCountsMax.tools);
  const secretKeyLists = toolSlice.map(({ data }, index) =>
    secretKeysIn(readJsonObject(`bundle.tools[${index}].data`, data, new Faults())),
  );
  const secretMatches: SecretMatch[] = [];
  const names = new Set<string>();
  const tools = toolSlice.map(({ name, type, data }, index) => {
    const at = `bundle.tools[${index}]`;
    readToolName(`${at}.name`, name, faults);
    if (names.has(name)) faults.add(`${at}.name`, `${at}.name: another tool of the bundle has this name`);
    names.add(name);
    const isTaken = (key: string) =>
      secretMatches.some((secret) => secret.key === key) ||
      secretKeyLists.some((keys, other) => other !== index && keys.includes(key));
    const read = readToolData(`${at}.data`, { name, type, data }, isTaken, faults);
    secretMatches.push(...read.secrets);
    return { name, type, data: read.data };
  });
  return { tools, found: secretMatches };
}

function readList<Input, Read>(
  name: string,
  inputs: Maybe<readonly Input[]>,
  countMax: number,
  faults: Faults,
  read: (prefix: string, input: Input, faults: Faults) => Read,
  keyOf: (read: Read) => string,
  keyName: string,
): readonly Read[] {
  const list = inputs ?? [];
  faults.requireCount(`bundle.${name}`, list, countMax);
  const seenNames = new Set<string>();
  return list.slice(0, countMax).map((input, index) => {
    const at = `bundle.${name}[${index}]`;
    const one = read(`${at}.`, input, faults);
    const key = keyOf(one);
    if (seenNames.has(key)) faults.add(`${at}.${keyName}`, `${at}.${keyName} stands in the bundle twice`);
    seenNames.add(key);
    return one;
  });
}

function readSecrets(
  secretInputs: NonNullable<BundleInput['requiredSecrets']>,
  tools: ReadBundle['tools'],
  secretMatches: readonly SecretMatch[],
  toolsInput: unknown,
  faults: Faults,
): readonly ReadSecret[] {
  faults.requireCount('bundle.requiredSecrets', secretInputs, partCountsMax.secrets);
  const referenceKeys = new Set(tools.flatMap(({ data }) => secretKeysIn(data)));
  const byKey = new Map<string, Omit<ReadSecret, 'isDerived'>>();
  for (const [index, { key, description, secretType }] of secretInputs.slice(0, partCountsMax.secrets).entries()) {
    const at = `bundle.requiredSecrets[${index}]`;
    readSecretKey(`${at}.key`, key, faults);
    faults.requireLength(`${at}.description`, description ?? '', secretDescriptionMax);
    if (byKey.has(key)) faults.add(`${at}.key`, `${at}.key stands in the bundle twice`);
    byKey.set(key, {
      key,
      description: (description ?? '').toWellFormed(),
      secretType: secretType ?? 'apiKey',
      value: undefined,
    });
  }
  for (const key of referenceKeys)
    if (!byKey.has(key)) byKey.set(key, { key, description: '', secretType: 'apiKey', value: undefined });
  for (const { key, value, secretType, path } of secretMatches) {
    const existingSecret = byKey.get(key);
    byKey.set(key, {
      key,
      description: existingSecret?.description || `Found in ${path}`,
      secretType: existingSecret?.description ? existingSecret.secretType : secretType,
      value,
    });
  }
  for (const [key, value] of readValues(toolsInput, faults)) {
    const currentSecret = byKey.get(key);
    if (currentSecret === undefined) faults.add(`secrets.${key}`, `secrets.${key} is none of the bundle's requiredSecrets`);
    else byKey.set(key, { ...currentSecret, value });
  }
  if (byKey.size > partCountsMax.secrets)
    faults.add('bundle.requiredSecrets', `The bundle must need at most ${partCountsMax.secrets} secrets`);
  return [...byKey.values()].map((secret) => ({ ...secret, isDerived: referenceKeys.has(secret.key) }));
}

/** Values are never repeated in a message. */
function readValues(input: unknown, faults: Faults): readonly (readonly [string, string])[] {
  if (input === undefined || input === null) return [];
  const object = readJsonObject('secrets', input, faults, {
    bytesMax: partCountsMax.secrets * (secretBytesMax + 300),
    depthMax: 1,
  });
  return Object.entries(object).flatMap(([key, value]) => {
    const name = key.slice(0, 100);
    if (typeof value !== 'string') faults.add(`secrets.${name}`, `secrets.${name} must be a text`, 'INVALID_TYPE');
    else if (Buffer.byteLength(value) > secretBytesMax)
      faults.add(`secrets.${name}`, `secrets.${name} must have at most ${secretBytesMax} bytes`);
    else return value === '' ? [] : [[key, value] as const];
    return [];
  });
}

function readSources(deps: Deps, sourceInputs: readonly BundledSourceInput[], faults: Faults): readonly ReadSource[] {
  const countMax = deps.settings.AGENT_DATA_SOURCES_MAX;
  faults.requireCount('bundle.dataSources', sourceInputs, countMax);
  let itemCount = 0;
  return sourceInputs.slice(0, countMax).map(({ name, type, refreshPeriod, data, knowledgeItems }, index) => {
    const at = `bundle.dataSources[${index}]`;
    faults.requireName(`${at}.name`, name, nameLengthMax);
    const bounds =
      type === 'API' ? { bytesMax: deps.settings.BODY_MAX_BYTES, depthMax: 64, refusedNames: ['__proto__'] } : dataBounds;
    const items = knowledgeItems ?? [];
    faults.requireCount(`${at}.knowledgeItems`, items, itemsPerSourceMax);
    itemCount += items.length;
    if (itemCount > itemsMax) faults.add(`${at}.knowledgeItems`, `The bundle must hold at most ${itemsMax} knowledge items`);
    return {
      name: name.trim().toWellFormed(),
      type,
      refreshPeriod: refreshPeriod ?? 'NEVER',
      ...readData(`${at}.data`, type, readJsonObject(`${at}.data`, data ?? {}, faults, bounds), faults),
      items:
        itemCount > itemsMax
          ? []
          : items.slice(0, itemsPerSourceMax).map((item, place) => readItem(`${at}.knowledgeItems[${place}]`, item, faults)),
    };
  });
}

/** The data as the operations that add a source take it. Connections of the place that the bundle comes from are left out. */
function readData(at: string, type: DataSourceType, jsonData: JsonObject, faults: Faults): Pick<ReadSource, 'data' | 'leftOut'> {
  if (type === 'API') return { data: jsonData, leftOut: { isCredential: false, members: [] } };
  const portable = portableData(jsonData);
  const { data, faults: dataFaults, unknownMembers } = readSourceData(type, portable);
  for (const { path, message } of dataFaults) faults.add(`${at}.${path}`, `${at}.${path} ${message}`);
  for (const name of essentialMembers(type)) {
    if (data[name] === undefined) faults.add(`${at}.${name}`, `${at}.${name} is required`, 'MISSING_REQUIRED_PARAMETER');
  }
  return { data, leftOut: { isCredential: JSON.stringify(portable) !== JSON.stringify(jsonData), members: unknownMembers } };
}

function readItem(at: string, item: BundledItemInput, faults: Faults): ReadSource['items'][number] {
  for (const name of ['name', 'uniqueId', 'filename', 'mimeType'] as const)
    faults.requireLength(`${at}.${name}`, item[name] ?? '', itemTextMax);
  const isData = /^data:/i.test(item.blobUrl ?? '');
  if (!isData) faults.requireLength(`${at}.blobUrl`, item.blobUrl ?? '', itemTextMax);
  const text = (name: keyof BundledItemInput) => (item[name] ?? '').toWellFormed();
  return {
    name: text('name'),
    uniqueId: text('uniqueId'),
    blobUrl: item.blobUrl ?? '',
    filename: text('filename'),
    mimeType: text('mimeType'),
  };
}
