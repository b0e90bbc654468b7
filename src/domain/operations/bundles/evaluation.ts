import type { AgentView } from '../../../entities/agents/agent.ts';
import type { AgentBundle, BundledDataset, BundledGate } from '../../../entities/agents/bundle.ts';
import type { JsonObject } from '../../../entities/agents/part.ts';
import type { Dataset, DatasetCase } from '../../../entities/conversations/evaluation/dataset.ts';
import type { AgentGate } from '../../../entities/conversations/evaluation/gate.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import type { Warning } from '../../../entities/ground/warning.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import { toMembers } from '../../conversations/evaluation/case-files.ts';
import { type CaseValues, readCase } from '../../conversations/evaluation/case-input.ts';
import { type DatasetInput, datasetBounds, readDataset } from '../../conversations/evaluation/datasets.ts';
import { type GateRules, type GateRulesInput, readGateRules } from '../../conversations/evaluation/gates.ts';
import type { Deps } from '../../deps.ts';
import { canEditAgent } from '../../ground/access/access.ts';
import { Faults } from '../../ground/faults.ts';

/** Most bytes of cases that one exported agent carries. */
const casesMaxBytes = 4 * 1024 * 1024;

type Evaluation = Pick<AgentBundle, 'datasets' | 'gate'> & { readonly warnings: readonly Warning[] };

/**
 * The datasets of an agent and its gate, for who may edit it. Cases made of runs stay here: they hold what people said, and a file is out of the reach of
 * erasures and legal holds. Warnings name what is left out.
 */
export async function bundledEvaluation(
  deps: Deps,
  caller: Caller,
  agent: AgentView,
  isIncluded: boolean | null | undefined,
): Promise<Evaluation> {
  const { datasets: store, gates } = deps.storage.conversations;
  if (isIncluded === false) return { datasets: null, gate: null, warnings: [] };
  const { items } = await store.list(agent.id, { limit: datasetBounds.datasetsMax, after: undefined });
  const gate = await gates.find(agent.id);
  if (!canEditAgent(caller, agent)) {
    const hidden = [...(items.length === 0 ? [] : ['datasets']), ...(gate === undefined ? [] : ['gate'])];
    const warnings = hidden.map((name) =>
      leftOut(name, `${name} left out: only the owner, editors and administrators may read it`),
    );
    return { datasets: null, gate: null, warnings };
  }
  const warnings: Warning[] = [];
  const bundled = new Map<string, BundledDataset>();
  let bytesLeft = casesMaxBytes;
  for (const dataset of sorted(items)) {
    const { cases, personalCount, sizeBytes } = await bundledCases(deps, dataset, bytesLeft);
    const name = dataset.name.slice(0, 200);
    if (personalCount > 0)
      warnings.push(leftOut('datasets', `${personalCount} cases of ${name} left out: they were made of what people said`));
    if (sizeBytes > bytesLeft) {
      warnings.push(leftOut('datasets', `${name} left out: the cases of a bundle have at most ${casesMaxBytes} bytes together`));
      continue;
    }
    bytesLeft -= sizeBytes;
    const { description, callsTools } = dataset;
    bundled.set(dataset.id, { name: dataset.name, description, callsTools, cases });
  }
  const place = gate === undefined ? -1 : [...bundled.keys()].indexOf(gate.datasetId);
  if (gate !== undefined && place < 0) warnings.push(leftOut('gate', 'gate left out: its dataset is'));
  return {
    datasets: bundled.size === 0 ? null : [...bundled.values()],
    gate: gate === undefined || place < 0 ? null : bundledGate(gate, place),
    warnings,
  };
}

interface BundledCases {
  readonly cases: readonly JsonObject[];
  /** Those that were made of runs. */
  readonly personalCount: number;
  /** Above `bytesMax` reading stops. */
  readonly sizeBytes: number;
}

async function bundledCases(deps: Deps, { id, revision }: Dataset, bytesMax: number): Promise<BundledCases> {
  const cases: JsonObject[] = [];
  let personalCount = 0;
  let sizeBytes = 0;
  for await (const page of deps.storage.conversations.datasets.readCases({ datasetId: id, revision })) {
    const own = page.filter((one) => !isPersonal(one)).map(toMembers);
    personalCount += page.length - own.length;
    sizeBytes += own.reduce((sum, one) => sum + Buffer.byteLength(JSON.stringify(one)), 0);
    cases.push(...own);
    if (sizeBytes > bytesMax) break;
  }
  return { cases, personalCount, sizeBytes };
}

function isPersonal({ sourceRunId, sourceChatId, sourceUserId }: DatasetCase): boolean {
  return [sourceRunId, sourceChatId, sourceUserId].some((id) => id !== null);
}

function bundledGate({ mustTag, rateDropMax, costRatioMax, tokensMax, scorers }: AgentGate, dataset: number): BundledGate {
  const ownScorers = scorers.map(
    (scorer) =>
      Object.fromEntries(Object.entries(scorer).filter(([, value]) => value !== null)) as BundledGate['scorers'][number],
  );
  return { dataset, mustTag, rateDropMax, costRatioMax, tokensMax, scorers: ownScorers };
}

/** The same agent gives the same order. */
function sorted(datasets: readonly Dataset[]): readonly Dataset[] {
  return datasets.toSorted((left, right) =>
    left.name === right.name ? left.createdAt.getTime() - right.createdAt.getTime() : left.name < right.name ? -1 : 1,
  );
}

function leftOut(param: string, message: string): Warning {
  return { code: 'left_out', message, param };
}

export interface BundledDatasetInput extends DatasetInput {
  readonly name: string;
  readonly cases?: readonly unknown[] | null | undefined;
}
export interface BundledGateInput extends Omit<GateRulesInput, 'scorers'> {
  readonly dataset: number;
  /** As `BundledGate` has them. */
  readonly scorers?: readonly unknown[] | null | undefined;
}

/** The datasets and the gate of a valid bundle. */
export interface ReadEvaluation {
  readonly datasets: readonly ReadDataset[];
  readonly gate: (GateRules & { readonly dataset: number }) | undefined;
}
export interface ReadDataset {
  readonly name: string;
  readonly description: string;
  readonly callsTools: boolean;
  readonly cases: readonly CaseValues[];
}

/** Validates the datasets and the gate of a bundle; faults name the place in the bundle. */
export async function readEvaluation(
  deps: Deps,
  inputs: readonly BundledDatasetInput[],
  gate: BundledGateInput | null | undefined,
  faults: Faults,
): Promise<ReadEvaluation> {
  faults.requireCount('bundle.datasets', inputs, datasetBounds.datasetsMax);
  const datasets: ReadDataset[] = [];
  for (const [index, { cases: caseInputs, ...input }] of inputs.slice(0, datasetBounds.datasetsMax).entries()) {
    const at = `bundle.datasets[${index}]`;
    const {
      name = '',
      description = '',
      callsTools = false,
    } = (await within(at, faults, (own) => readDataset(input, own))) ?? {};
    faults.requireCount(`${at}.cases`, caseInputs ?? [], datasetBounds.casesMax);
    const cases: CaseValues[] = [];
    for (const [place, value] of (caseInputs ?? []).slice(0, datasetBounds.casesMax).entries()) {
      if (faults.isFull) break;
      cases.push(readCase(value, `${at}.cases[${place}]`, faults));
    }
    datasets.push({ name, description, callsTools, cases });
  }
  if (gate === undefined || gate === null) return { datasets, gate: undefined };
  const { dataset, scorers, ...rules } = gate;
  if (!Number.isInteger(dataset) || dataset < 0 || dataset >= inputs.length)
    faults.add('bundle.gate.dataset', `bundle.gate.dataset must be the place of one of the ${inputs.length} datasets, from 0`);
  const read = await within('bundle.gate', faults, (own) =>
    readGateRules(deps, { ...rules, scorers: scorers?.map(toScorerInput) as GateRulesInput['scorers'] }, own),
  );
  return { datasets, gate: read === undefined ? undefined : { ...read, dataset } };
}

/** Schemas are JSON text to readers of scorers. */
function toScorerInput(scorer: unknown): unknown {
  if (typeof scorer !== 'object' || scorer === null) return {};
  const schema = 'schema' in scorer ? scorer.schema : undefined;
  return typeof schema === 'object' && schema !== null ? { ...scorer, schema: JSON.stringify(schema) } : scorer;
}

/** Reads a part of a bundle; its faults are told with its place. @returns undefined with a fault. */
async function within<Read>(
  place: string,
  faults: Faults,
  read: (own: Faults) => Read | Promise<Read>,
): Promise<Read | undefined> {
  const own = new Faults();
  const add = (found: Faults['found']) => {
    for (const { param, message, code } of found)
      faults.add(`${place}.${param}`, message.startsWith(param ?? '') ? `${place}.${message}` : message, code);
  };
  try {
    const value = await read(own);
    add(own.found);
    return own.found.length === 0 ? value : undefined;
  } catch (error) {
    if (!(error instanceof DomainError) || error.detail.faults === undefined) throw error;
    add(error.detail.faults);
    return undefined;
  }
}
