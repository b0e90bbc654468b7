import type { WireObject } from '../../../entities/conversations/runs/response.ts';
import type { FaultNotes } from '../../../entities/ground/fault-notes.ts';
import { checkItemKeys } from '../../../entities/knowledge/item-keys.ts';
import type { AttributeFilter } from '../../../entities/knowledge/vector-store.ts';
import { isObject } from '../../../lib/json/json.ts';
import { readFilter } from '../../knowledge/search/attribute-filter.ts';

export interface FileSearchOptions {
  /** Undefined: all of the agent. */
  readonly dataSourceIds: readonly string[] | undefined;
  readonly vectorStoreIds: readonly string[];
  readonly resultsMax: number;
  readonly filter: AttributeFilter | undefined;
  /** 0 to 1. */
  readonly scoreMin: number;
}

const resultsDefault = 10;
const rankers = ['auto', 'none'];
const noFaults: FaultNotes = { isFull: false, add: () => undefined };

/** The options of a checked request. */
export function readOptions(options: WireObject): FileSearchOptions {
  const {
    data_source_ids: sources,
    vector_store_ids: stores,
    max_num_results: most,
    filters,
    ranking_options: ranking,
  } = options;
  const threshold = isObject(ranking) ? ranking.score_threshold : undefined;
  return {
    dataSourceIds: Array.isArray(sources) ? [...new Set(sources.map(String))] : undefined,
    vectorStoreIds: Array.isArray(stores) ? [...new Set(stores.map(String))] : [],
    resultsMax: typeof most === 'number' ? most : resultsDefault,
    filter: isObject(filters) ? readFilter(filters, 'filters', noFaults) : undefined,
    scoreMin: typeof threshold === 'number' ? threshold : 0,
  };
}

/** Only files of vector stores have attributes: another key would fit nothing in the agent's own sources. */
function checkFilters(options: WireObject, at: string, faults: FaultNotes): void {
  if (!isObject(options.filters)) return;
  let isWellFormed = true;
  const faultNotes: FaultNotes = {
    get isFull() {
      return faults.isFull;
    },
    add(...fault) {
      isWellFormed = false;
      faults.add(...fault);
    },
  };
  const filter = readFilter(options.filters, at, faultNotes);
  const { vectorStoreIds, dataSourceIds } = readOptions(options);
  if (!isWellFormed || vectorStoreIds.length > 0 || dataSourceIds !== undefined) return;
  checkItemKeys(filter, at, (param, message) => faults.add(param, message));
}

/** Notes faults of filters and ranking, which the schema leaves open. */
export function checkOptions(options: WireObject, at: string, faults: FaultNotes): void {
  checkFilters(options, `${at}.filters`, faults);
  const { ranking_options: ranking } = options;
  if (!isObject(ranking)) return;
  const place = `${at}.ranking_options`;
  const { ranker, score_threshold: threshold, ...others } = ranking;
  if (ranker !== undefined && ranker !== null && !rankers.includes(String(ranker))) {
    faults.add(`${place}.ranker`, `${place}.ranker must be one of ${rankers.join(', ')}: Parley has one ranker`);
  }
  for (const name of Object.keys(others)) {
    faults.add(`${place}.${name}`, `${place}.${name} is not served: Parley has one ranker`, 'UNSUPPORTED_VALUE');
  }
  const isScore = typeof threshold === 'number' && threshold >= 0 && threshold <= 1;
  if (threshold === undefined || threshold === null || isScore) return;
  faults.add(`${place}.score_threshold`, `${place}.score_threshold must be from 0 to 1`);
}
