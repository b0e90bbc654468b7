import { run } from '../../graphql/client.ts';
import {
  type FiguresFragment,
  UsageLedgerDocument,
  type UsageLedgerQuery,
  UsageOfOneDocument,
  type UsageOfRunsQuery,
} from './documents.ts';
import { filterOfOne, getPeriod, type Part, toLedger, type UsageView } from './view.ts';

/** What one agent, person, key, model or day used. */
export interface UsageRow {
  /** Null: all runs without one. */
  readonly id: string | null;
  /** Null: it is gone, or the reader may not see it. */
  readonly name: string | null;
  /** Undefined: not asked for yet, or not shown to the reader. */
  readonly figures: FiguresFragment | undefined;
  /** Tokens of runs in the ledger; undefined where the reader does not see them. */
  readonly runTokens: number | undefined;
  /** What runs and indexing cost in the ledger; undefined where the reader does not see it. */
  readonly ledgerCost: number | undefined;
  /** Tokens of indexing. */
  readonly dataTokens: number;
}

interface LedgerRow {
  readonly id: string;
  readonly name: string | null;
  readonly runTokens: number;
  readonly ledgerCost: number;
  readonly dataTokens: number;
}

interface LedgerPage {
  readonly rows: readonly LedgerRow[];
  readonly endCursor: string | null;
  readonly hasNextPage: boolean;
}

/** A page of the ledger, whichever list was asked for. */
export function getLedgerPage(usage: UsageLedgerQuery['usage'] | undefined): LedgerPage {
  const list = usage?.agents ?? usage?.users ?? usage?.keys ?? usage?.models;
  if (list === undefined) return { rows: [], endCursor: null, hasNextPage: false };
  const rows = list.nodes.map((node) => ({
    ...getIdentity(node),
    runTokens: node.apiTokensUsed,
    ledgerCost: node.cost,
    dataTokens: node.dataTokensUsed,
  }));
  return { rows, endCursor: list.pageInfo.endCursor, hasNextPage: list.pageInfo.hasNextPage };
}

type LedgerNode =
  | { readonly agentId: string; readonly agent: { readonly name: string } | null }
  | { readonly userId: string; readonly user: { readonly name: string } | null }
  | { readonly keyId: string; readonly key: { readonly name: string } | null }
  | { readonly modelId: string };

function getIdentity(node: LedgerNode): Pick<LedgerRow, 'id' | 'name'> {
  if ('agentId' in node) return { id: node.agentId, name: node.agent?.name ?? null };
  if ('userId' in node) return { id: node.userId, name: node.user?.name ?? null };
  if ('keyId' in node) return { id: node.keyId, name: node.key?.name ?? null };
  return { id: node.modelId, name: node.modelId };
}

/** The hundred that ran most, with their tokens in the ledger; after them what the ledger knows besides. */
export function buildRows(
  groups: UsageOfRunsQuery['parts']['groups'] | undefined,
  ledger: readonly LedgerRow[],
  { by, withLedger }: { readonly by: Part; readonly withLedger: boolean },
): readonly UsageRow[] {
  const byId = new Map((withLedger ? ledger : []).map((row) => [row.id, row]));
  const ran = (groups ?? []).map(({ key, agent, user, apiKey, figures }) => {
    const counted = key === null ? undefined : byId.get(key);
    const name = by === 'model' ? key : ((agent ?? user ?? apiKey)?.name ?? counted?.name ?? null);
    const { runTokens, ledgerCost, dataTokens = 0 } = counted ?? {};
    return { id: key, name, figures, runTokens, ledgerCost, dataTokens };
  });
  const ids = new Set(ran.map(({ id }) => id));
  const others = withLedger ? ledger.filter(({ id }) => !ids.has(id)).map((row) => ({ ...row, figures: undefined })) : [];
  const mostFirst = (a: UsageRow, b: UsageRow) => (readCost(b) ?? 0) - (readCost(a) ?? 0) || countTokens(b) - countTokens(a);
  return [...ran, ...others].toSorted(mostFirst);
}

/** Tokens in the ledger, which keeps those of deleted runs; where it is not seen, of the runs that the reader sees. */
export function countTokens({ figures, runTokens }: Pick<UsageRow, 'figures' | 'runTokens'>): number {
  return runTokens ?? (figures === undefined ? 0 : figures.inputTokens + figures.outputTokens);
}

/** The cost in the ledger; where it is not seen, of the runs that the reader sees. */
export function readCost({ figures, ledgerCost }: Pick<UsageRow, 'figures' | 'ledgerCost'>): number | undefined {
  return ledgerCost ?? figures?.cost;
}

const atOnce = 4;

/**
 * All rows of a list: the further pages of the ledger, and the figures of those that are not among the hundred that ran most.
 *
 * @throws ParleyError
 */
export async function allRows(
  visibleRows: readonly UsageRow[],
  first: LedgerPage,
  view: UsageView,
  reader: { readonly userId: string; readonly isOwn: boolean },
): Promise<readonly UsageRow[]> {
  const { since, until } = getPeriod(view);
  const ledger = [...first.rows];
  let page = first;
  while (page.hasNextPage) {
    const variables = { ...reader, from: since, to: until, after: page.endCursor, ...toLedger(view.by) };
    page = getLedgerPage((await run(UsageLedgerDocument, variables)).usage);
    ledger.push(...page.rows);
  }
  const byId = new Map<string | null, UsageRow>(visibleRows.map((row) => [row.id, row]));
  const rowsWithoutFigures = ledger.filter(({ id }) => byId.get(id)?.figures === undefined);
  for (let begin = 0; begin < rowsWithoutFigures.length; begin += atOnce) {
    const figures = rowsWithoutFigures.slice(begin, begin + atOnce).map(async (row) => {
      const filter = { ...filterOfOne(view.by, row.id), since, until };
      const { runStatistics } = await run(UsageOfOneDocument, { filter });
      byId.set(row.id, { ...row, figures: runStatistics.total });
    });
    await Promise.all(figures);
  }
  return [...byId.values()];
}
