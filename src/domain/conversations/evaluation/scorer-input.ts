import { compileLinearPattern, PatternError } from '../../../engine/tools/json-schema/linear-pattern.ts';
import { readSchema, SchemaError } from '../../../engine/tools/json-schema/read-schema.ts';
import { type Scorer, type ScorerKind, scorerKinds } from '../../../entities/conversations/evaluation/experiment.ts';
import { isObject, parseJson } from '../../../lib/json/json.ts';
import { storableJson, storableText } from '../../../lib/text/text.ts';
import type { Deps } from '../../deps.ts';
import type { Faults } from '../../ground/faults.ts';

type Optional<T> = T | null | undefined;

export interface ScorerInput {
  readonly kind: ScorerKind;
  readonly pattern?: Optional<string>;
  /** As JSON text. */
  readonly schema?: Optional<string>;
  readonly tolerance?: Optional<number>;
  readonly max?: Optional<number>;
  readonly modelId?: Optional<string>;
  readonly rubric?: Optional<string>;
}

const scorersMax = 20;
const rubricMax = 4_000;
/** The built-in model quotes: it cannot weigh anything. */
const quotingModel = 'parley/offline';

/** Which settings a scorer has; those that it needs come first. */
const settings: Readonly<
  Record<ScorerKind, { readonly needs?: keyof ScorerInput; readonly takes?: readonly (keyof ScorerInput)[] }>
> = {
  EQUALS: {},
  CONTAINS: {},
  MATCHES: { needs: 'pattern' },
  JSON_SCHEMA: { needs: 'schema' },
  NUMBERS: { takes: ['tolerance'] },
  CITES: {},
  CITES_NO_OTHER: {},
  REFUSES: {},
  TOOL_CALLS: {},
  LATENCY: { needs: 'max' },
  TOKENS: { needs: 'max' },
  COST: { needs: 'max' },
  JUDGE: { needs: 'modelId', takes: ['rubric'] },
  JUDGE_PAIR: { needs: 'modelId', takes: ['rubric'] },
};
const settingNames = ['pattern', 'schema', 'tolerance', 'max', 'modelId', 'rubric'] as const;

/** What is scored unless somebody chooses: everything that cases can say without a model. */
const defaultKinds: readonly ScorerKind[] = ['CONTAINS', 'CITES', 'REFUSES', 'TOOL_CALLS'];

/** Reads scorers, noting every fault: a setting that has no effect is one, and a pattern that is not linear. */
export async function readScorers(
  { models }: Pick<Deps, 'models'>,
  inputs: Optional<readonly ScorerInput[]>,
  faults: Faults,
): Promise<readonly Scorer[]> {
  if (inputs === undefined || inputs === null || inputs.length === 0) return defaultKinds.map((kind) => toScorer({ kind }, null));
  faults.requireCount('scorers', inputs, scorersMax);
  const scorers: Scorer[] = [];
  for (const [index, input] of inputs.slice(0, scorersMax).entries()) {
    const path = `scorers[${index}]`;
    if (faults.requireOneOf(`${path}.kind`, input.kind, scorerKinds) === undefined) continue;
    checkMembers(input, path, faults);
    checkValues(input, path, faults);
    if (typeof input.modelId === 'string') await checkModel(models, input.modelId, `${path}.modelId`, faults);
    scorers.push(toScorer(input, readSchemaText(input.schema, `${path}.schema`, faults)));
  }
  return scorers;
}

function checkMembers(input: ScorerInput, path: string, faults: Faults): void {
  const { needs, takes = [] } = settings[input.kind];
  if (needs !== undefined && (input[needs] ?? null) === null)
    faults.add(`${path}.${needs}`, `${path}.${needs} is required by ${input.kind}`, 'MISSING_REQUIRED_PARAMETER');
  const surplus = settingNames.filter((name) => (input[name] ?? null) !== null && name !== needs && !takes.includes(name));
  for (const name of surplus) faults.add(`${path}.${name}`, `${path}.${name} has no effect on ${input.kind}: leave it out`);
}

function checkValues({ pattern, tolerance, max, rubric }: ScorerInput, path: string, faults: Faults): void {
  if (typeof pattern === 'string') {
    const fault = patternFault(pattern);
    if (fault !== undefined) faults.add(`${path}.pattern`, `${path}.pattern ${fault}`);
  }
  if (typeof tolerance === 'number') faults.requireRange(`${path}.tolerance`, tolerance, { min: 0, max: 1 });
  if (typeof max === 'number') faults.requireRange(`${path}.max`, max, { min: 0, max: 1_000_000_000 });
  if (typeof rubric === 'string') faults.requireLength(`${path}.rubric`, rubric, rubricMax);
}

function patternFault(pattern: string): string | undefined {
  if (pattern !== storableText(pattern)) return 'must be well-formed text without NUL characters';
  try {
    compileLinearPattern(pattern, () => undefined);
    return undefined;
  } catch (error) {
    if (error instanceof PatternError) return error.message;
    throw error;
  }
}

async function checkModel(models: Deps['models'], modelId: string, param: string, faults: Faults): Promise<void> {
  if (modelId === quotingModel) faults.add(param, `${param}: ${quotingModel} only quotes, and cannot judge`);
  else if ((await models.find(modelId)) === undefined)
    faults.add(param, `${param} is no model that is configured here`, 'MODEL_NOT_FOUND');
}

function readSchemaText(text: Optional<string>, param: string, faults: Faults): Scorer['schema'] {
  if (text === undefined || text === null) return null;
  const schema = parseJson(text);
  if (!isObject(schema)) {
    faults.add(param, `${param} must be the text of a JSON object`);
    return null;
  }
  try {
    readSchema(schema, 'answer');
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error;
    faults.add(param, `${param}${error.path} ${error.message}`);
  }
  return storableJson(schema) as Scorer['schema'];
}

function toScorer({ kind, pattern, tolerance, max, modelId, rubric }: ScorerInput, schema: Scorer['schema']): Scorer {
  return {
    ...{ kind, schema, pattern: pattern ?? null, tolerance: tolerance ?? null },
    ...{ max: max ?? null, modelId: modelId ?? null, rubric: typeof rubric === 'string' ? storableText(rubric) : null },
  };
}
