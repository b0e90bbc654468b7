/** A refusal as OpenSearch words it. */
export class OpenSearchRefusal extends Error {
  readonly status: number;
  readonly type: string;

  constructor(status: number, type: string, reason: string) {
    super(reason);
    this.status = status;
    this.type = type;
  }

  get body(): object {
    const cause = { type: this.type, reason: this.message };
    return { error: { root_cause: [cause], ...cause }, status: this.status };
  }
}

export function badRequest(reason: string, type = 'parsing_exception'): OpenSearchRefusal {
  return new OpenSearchRefusal(400, type, reason);
}

export function noIndex(name: string): OpenSearchRefusal {
  return new OpenSearchRefusal(404, 'index_not_found_exception', `no such index [${name}]`);
}

export type Members = Readonly<Record<string, unknown>>;

/** An object that has no other members than these. */
export function checked(value: unknown, allowed: readonly string[], place: string): Members {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw badRequest(`[${place}] must be an object`);
  for (const name of Object.keys(value)) if (!allowed.includes(name)) throw badRequest(`unknown field [${name}] in [${place}]`);
  return value as Members;
}

/** The only member of an object. */
export function onlyMember(value: unknown, place: string): readonly [name: string, value: unknown] {
  const entries = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  const [first] = entries;
  if (first === undefined || entries.length > 1) throw badRequest(`[${place}] needs exactly one member`);
  return first;
}

export function listOf(value: unknown): readonly unknown[] {
  return value === undefined ? [] : Array.isArray(value) ? value : [value];
}
