// Raw SQL: ranking. The part of each statement that finds passages which says what a person may open.
import type { Parameters } from '../../ground/sql/where.ts';

/** What a person may find in MIRRORED sources. Without one, a statement searches sources that are LENT only. */
export interface AccessGate {
  /** The searched sources that are MIRRORED. One that is not named here is not searched, whatever it has become since. */
  readonly mirroredIds: readonly string[];
  /** Of these sources, the rules that the person opens. */
  readonly ruleIds: readonly number[];
  /** The MIRRORED sources that are asked once more before a model gets their passages. */
  readonly recheckedIds: readonly string[];
  /** All items that the person may open, where they are few and every searched source is MIRRORED. */
  readonly itemIds?: readonly string[];
}

/**
 * The condition on rows of `data_sources`, beginning with `and`: LENT, or MIRRORED and known to be. In every statement that finds passages: a source
 * that has just become MIRRORED is searched by nobody who does not know it.
 */
export function searchedSourcesCondition(gate: AccessGate | undefined, parameters: Parameters, table: string): string {
  const isLent = `${table}."access" = 'LENT'`;
  return gate === undefined
    ? ` and ${isLent}`
    : ` and (${isLent} or ${table}.id = any(${parameters.share(gate.mirroredIds)}::text[]))`;
}

/**
 * The condition on rows with a source and a rule, beginning with `and`; '' without a gate. No rule is open to nobody. `is true` keeps the planner from
 * making a join of it: the rules are hashed once for a statement.
 */
export function openRuleCondition(
  gate: AccessGate | undefined,
  parameters: Parameters,
  { source, rule }: { readonly source: string; readonly rule: string },
): string {
  if (gate === undefined) return '';
  const isOpen = `(${rule} in (select unnest(${parameters.share(gate.ruleIds)}::int[]))) is true`;
  return ` and (${source} <> all(${parameters.share(gate.mirroredIds)}::text[]) or ${isOpen})`;
}
