import type { RunNarrowing } from '../../../entities/conversations/runs/history.ts';

/**
 * Whose runs a caller lists: all of an organization, or the caller's own and those of agents in the same organization that the caller may edit
 * (`agentIds`).
 */
export type RunReach =
  | { readonly orgId: string; readonly userId?: undefined }
  | { readonly orgId: string; readonly userId: string; readonly agentIds: readonly string[] };

export interface RunHistoryQuery extends RunNarrowing {
  /** Only runs that got no passage, or whose answer was rated down. */
  readonly isUnanswered?: true;
  readonly isOldestFirst?: boolean;
}

/** One way to find runs, by an index of its own. */
interface Alternative {
  /** SQL of an array: `where` holds for one of its values at a time, which it calls `named.id`. Absent: `where` holds as it is. */
  readonly each?: string;
  readonly where: string;
}

type SqlType = 'text' | 'int' | 'timestamptz' | 'text[]';

/** The conditions of a list of runs in SQL, and their parameters. Values of closed sets are written out, so that partial indexes fit. */
export class Conditions {
  readonly values: unknown[] = [];
  readonly #reach: RunReach;
  readonly #query: RunHistoryQuery;
  readonly #narrowing: readonly string[];
  readonly #orgId: string;

  constructor(reach: RunReach, query: RunHistoryQuery) {
    this.#reach = reach;
    this.#query = query;
    this.#orgId = `"orgId" = ${this.value(reach.orgId, 'text')}`;
    this.#narrowing = [...this.#members(query), ...this.#states(query)];
  }

  /** A parameter. */
  value(value: unknown, type: SqlType): string {
    this.values.push(value);
    return `$${this.values.length}::${type}`;
  }

  /** The alternatives that together give the runs of a list; each of them once or more. None: there are no such runs. */
  alternatives(): readonly Alternative[] {
    const reachParts = this.#reached();
    const searchParts = this.#searched();
    return reachParts.flatMap((reach) => searchParts.flatMap((search) => this.#joined(reach, search)));
  }

  /** One condition for all of them, for statements that read every run anyway. */
  together(): string {
    const reach = this.#reach;
    const own =
      reach.userId === undefined
        ? []
        : [`("userId" = ${this.value(reach.userId, 'text')} or "agentId" = any(${this.value(reach.agentIds, 'text[]')}))`];
    const searchConditions = this.#searched().map(({ one, each }) => (each === undefined ? one : `${one} = any(${each})`));
    const search =
      this.#query.search === undefined ? [] : [searchConditions.length === 0 ? 'false' : `(${searchConditions.join(' or ')})`];
    return [this.#orgId, ...own, ...this.#narrowing, ...search].join(' and ');
  }

  /** Whose runs: each alternative is a condition, or the agents that are read one by one. */
  #reached(): readonly Part[] {
    const { agentId, userId } = this.#query;
    const reach = this.#reach;
    if (reach.userId === undefined) return [{ one: 'true' }];
    if (agentId !== undefined && reach.agentIds.includes(agentId)) return [{ one: 'true' }];
    const isMine = userId === undefined || userId === reach.userId;
    const mine = isMine ? [{ one: `"userId" = ${this.value(reach.userId, 'text')}` }] : [];
    if (agentId !== undefined || reach.agentIds.length === 0) return mine;
    return [...mine, { one: '"agentId"', each: this.value(reach.agentIds, 'text[]') }];
  }

  #searched(): readonly Part[] {
    const { search } = this.#query;
    if (search === undefined) return [{ one: 'true' }];
    const columns = [
      ['id', search.runIds],
      ['"agentId"', search.agentIds],
      ['"modelId"', search.modelIds],
      ['"userId"', search.userIds],
      ['"keyId"', search.keyIds],
      ['"chatId"', search.chatIds],
    ] as const;
    return columns.flatMap(([one, ids]) => (ids.length === 0 ? [] : [{ one, each: this.value(ids, 'text[]') }]));
  }

  /** Of two lists of things, one is read by its index one by one, and the other is a condition. */
  #joined(reach: Part, search: Part): readonly Alternative[] {
    const plain = [this.#orgId, ...this.#narrowing];
    const [leading, other] = search.each === undefined ? [reach, search] : [search, reach];
    const conditions = [leading, other].flatMap((part) => {
      if (part.each === undefined) return part.one === 'true' ? [] : [part.one];
      return part === leading ? [`${part.one} = named.id`] : [`${part.one} = any(${part.each})`];
    });
    const where = [...conditions, ...plain].join(' and ');
    return [leading.each === undefined ? { where } : { each: leading.each, where }];
  }

  #members({ agentId, userId, keyId, modelId, since, until, tag }: RunNarrowing): readonly string[] {
    const equal = Object.entries({ agentId, userId, keyId, modelId }).flatMap(([column, value]) =>
      value === undefined ? [] : [`"${column}" = ${this.value(value, 'text')}`],
    );
    return [
      ...equal,
      ...(since === undefined ? [] : [`"createdAt" >= ${this.value(since.toISOString(), 'timestamptz')}`]),
      // The partial index of runs with tags has the first.
      ...(tag === undefined ? [] : [`tags <> '{}' and tags @> ${this.value([tag], 'text[]')}`]),
      ...(until === undefined ? [] : [`"createdAt" < ${this.value(until.toISOString(), 'timestamptz')}`]),
    ];
  }

  #states({ status, kind, feedback, isUnanswered }: RunHistoryQuery): readonly string[] {
    return [
      ...(status === undefined ? [] : [`status = '${status}'`]),
      ...(kind === undefined ? [] : [`kind = '${kind}'`]),
      ...(feedback === undefined ? [] : [ratings[feedback]]),
      ...(isUnanswered === true ? ['("hasFoundNothing" or "ratedDown" > 0)'] : []),
    ];
  }
}

/** A condition, or the name of a column that has one of the values of an array. */
interface Part {
  readonly one: string;
  readonly each?: string;
}

/** The partial index of rated runs has both. */
const isRated = '("ratedUp" > 0 or "ratedDown" > 0)';
const ratings = {
  UP: `(${isRated} and "ratedUp" > 0)`,
  DOWN: `(${isRated} and "ratedDown" > 0)`,
  ANY: isRated,
} as const;
