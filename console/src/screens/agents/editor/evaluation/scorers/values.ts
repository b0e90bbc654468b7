import type { Text } from '../../../../../text/text.ts';
import type { ScorerFieldsFragment, ScorerInput, ScorerKind } from '../documents.ts';

/** What the form of a scorer holds: texts as they are typed. */
export interface ScorerValues {
  readonly kind: ScorerKind;
  readonly pattern: string;
  readonly schema: string;
  readonly tolerance: string;
  readonly max: string;
  readonly modelId: string;
  readonly rubric: string;
}

export type ScorerMember = Exclude<keyof ScorerValues, 'kind'>;

/** What each kind takes, in the order of the form. */
export const scorerMembers: Readonly<Record<ScorerKind, readonly ScorerMember[]>> = {
  CONTAINS: [],
  CITES: [],
  REFUSES: [],
  TOOL_CALLS: [],
  EQUALS: [],
  NUMBERS: ['tolerance'],
  CITES_NO_OTHER: [],
  MATCHES: ['pattern'],
  JSON_SCHEMA: ['schema'],
  LATENCY: ['max'],
  TOKENS: ['max'],
  COST: ['max'],
  JUDGE: ['modelId', 'rubric'],
  JUDGE_PAIR: ['modelId', 'rubric'],
};
export const scorerKinds = Object.keys(scorerMembers) as readonly ScorerKind[];

/** As the service chooses where nobody does. */
const defaultKinds: readonly ScorerKind[] = ['CONTAINS', 'CITES', 'REFUSES', 'TOOL_CALLS'];

export function newScorer(kind: ScorerKind): ScorerValues {
  return { kind, pattern: '', schema: '', tolerance: '', max: '', modelId: '', rubric: '' };
}

export const defaultScorers: readonly ScorerValues[] = defaultKinds.map(newScorer);

export function readScorers(scorers: readonly ScorerFieldsFragment[]): readonly ScorerValues[] {
  return scorers.map(({ kind, pattern, schema, tolerance, max, modelId, rubric }) => ({
    kind,
    pattern: pattern ?? '',
    schema: schema ?? '',
    tolerance: tolerance === null ? '' : String(tolerance),
    max: max === null ? '' : String(max),
    modelId: modelId ?? '',
    rubric: rubric ?? '',
  }));
}

/** A member that is empty, or that the kind does not take, is left out. */
export function toScorerInput(values: ScorerValues): ScorerInput {
  const { kind } = values;
  const typed = (member: ScorerMember) => (scorerMembers[kind].includes(member) ? values[member].trim() : '');
  const text = (member: ScorerMember) => (typed(member) === '' ? null : typed(member));
  const number = (member: ScorerMember) => (typed(member) === '' ? null : Number(typed(member)));
  return {
    ...{ kind, pattern: text('pattern'), schema: text('schema'), modelId: text('modelId'), rubric: text('rubric') },
    ...{ tolerance: number('tolerance'), max: number('max') },
  };
}

export function scorerName(t: Text['t'], kind: ScorerKind): string {
  const names: Readonly<Record<ScorerKind, string>> = {
    CONTAINS: t('Facts stand in it'),
    CITES: t('Documents are cited'),
    REFUSES: t('It refuses where it must'),
    TOOL_CALLS: t('Tools are called as wanted'),
    EQUALS: t('It is the expected answer'),
    NUMBERS: t('It has the expected numbers'),
    CITES_NO_OTHER: t('No other document is cited'),
    MATCHES: t('It matches a pattern'),
    JSON_SCHEMA: t('It is JSON that fits a schema'),
    LATENCY: t('It comes in time'),
    TOKENS: t('It takes few tokens'),
    COST: t('It costs little'),
    JUDGE: t('A judge says that it passes'),
    JUDGE_PAIR: t('A judge compares two answers'),
  };
  return names[kind];
}
