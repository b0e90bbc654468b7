import { BoundedMap } from '../bounded-map.ts';

/** Who a place is counted for: an organization within its tenant. A `Caller` is one. */
export interface ShareOwner {
  readonly tenantId: string;
  readonly orgId: string;
  /** The person of the organization, where places are counted for people too. */
  readonly userId?: string;
}

/** Equal for the same organization. */
export function keyOfOwner({ tenantId, orgId }: ShareOwner): string {
  return `${tenantId} ${orgId}`;
}

/** The owner of work that belongs to no organization; all of it counts as one tenant. */
export const nobody: ShareOwner = { tenantId: '', orgId: '' };

/** Why a place is refused: all are taken, or the owner's tenant, organization or person holds its share. */
export type ShareRefusal = 'full' | 'tenant' | 'organization' | 'person';

export interface ShareOptions {
  /** Places in all. */
  readonly max: number;
  /** Percent of all places that one tenant alone may hold, 1 to 99. */
  readonly tenantPercent: number;
  /** Percent of what its tenant may hold that one organization alone may hold, 1 to 99; absent: all of it. */
  readonly organizationPercent?: number;
  /** Most places of one organization, even while others are free; absent: no limit. */
  readonly organizationMax?: number;
  /**
   * Most places of one tenant while another one takes places too, and of one organization while another of its tenant does; absent: no limit. What is
   * under way cannot be interrupted, so the next owner waits for so much at most. Work of nobody counts as no other, and is not bounded.
   */
  readonly contendedMax?: number;
  /** Milliseconds of a steady clock; for tests. */
  readonly nowMs?: () => number;
  /** Most places of one person in an organization, whatever keys and sessions the person has; absent: no limit. */
  readonly personMax?: number;
}

/** Most owners whose last turn is remembered. */
const turnsMax = 10_000;
/** An owner that took a place within this time takes places still. */
const contenderMs = 2_000;

/**
 * A number of places, shared between tenants, and within a tenant between its organizations.
 *
 * A tenant gets a further place while it then holds at most `tenantPercent / (100 - tenantPercent)` times the free places. So a
 * single tenant may hold `tenantPercent` of all places, several greedy tenants hold equal shares, and some places stay free for a
 * tenant without any, whose first place is refused only when all are taken. Organizations share their tenant's places by the same
 * rule: a tenant gets no more by making more keys or organizations. Asking and counting cost two look-ups.
 *
 * Source: dynamic queue thresholds (Choudhury and Hahne, 1998).
 */
export class FairShare {
  readonly #max: number;
  readonly #tenantFactor: number;
  readonly #organizationFactor: number;
  readonly #organizationMax: number;
  readonly #contendedMax: number;
  readonly #nowMs: () => number;
  readonly #contenders = new Contenders();
  readonly #contendersOfTenants = new BoundedMap<string, Contenders>(turnsMax);
  readonly #personMax: number;
  readonly #people = new Map<string, number>();
  readonly #tenants = new Map<string, TenantPlaces>();
  readonly #tenantTurns = new BoundedMap<string, number>(turnsMax);
  readonly #organizationTurns = new BoundedMap<string, number>(turnsMax);
  #turn = 0;
  #count = 0;

  constructor(options: ShareOptions) {
    const { max, tenantPercent, organizationPercent, organizationMax, personMax, contendedMax, nowMs } = options;
    this.#max = max;
    this.#contendedMax = contendedMax ?? Number.POSITIVE_INFINITY;
    this.#nowMs = nowMs ?? (() => performance.now());
    this.#tenantFactor = toFactor(tenantPercent);
    this.#organizationFactor = organizationPercent === undefined ? Number.POSITIVE_INFINITY : toFactor(organizationPercent);
    this.#organizationMax = organizationMax ?? Number.POSITIVE_INFINITY;
    this.#personMax = personMax ?? Number.POSITIVE_INFINITY;
  }

  get max(): number {
    return this.#max;
  }

  get count(): number {
    return this.#count;
  }

  countOf({ tenantId, orgId }: ShareOwner): number {
    return this.#tenants.get(tenantId)?.organizations.get(orgId) ?? 0;
  }

  /** Why this owner may not take a place; undefined when it may. */
  refusal(owner: ShareOwner): ShareRefusal | undefined {
    const { tenantId, orgId } = owner;
    const free = this.#max - this.#count;
    if (free <= 0) return 'full';
    const tenant = this.#tenants.get(tenantId);
    if (tenant === undefined) return undefined;
    if (tenant.count + 1 > this.#tenantFactor * (free - 1)) return 'tenant';
    if (this.#isContended(this.#contenders, tenant.count, tenantId)) return 'tenant';
    const own = tenant.organizations.get(orgId);
    if (own === undefined) return undefined;
    if (own >= this.#organizationMax) return 'organization';
    if (this.#isContended(this.#contendersOfTenants.get(tenantId), own, orgId)) return 'organization';
    if (this.#ofPerson(owner) >= this.#personMax) return 'person';
    if (this.#organizationFactor === Number.POSITIVE_INFINITY) return undefined;
    // Places that the tenant may still take by its own rule.
    const freeOfTenant = (this.#tenantFactor * free - tenant.count) / (1 + this.#tenantFactor);
    return own + 1 > this.#organizationFactor * (freeOfTenant - 1) ? 'organization' : undefined;
  }

  /** Takes a place even when none is free: some work must not be refused. */
  take(owner: ShareOwner): void {
    const { tenantId, orgId } = owner;
    let tenant = this.#tenants.get(tenantId);
    if (tenant === undefined) {
      tenant = { count: 0, organizations: new Map() };
      this.#tenants.set(tenantId, tenant);
    }
    tenant.count += 1;
    tenant.organizations.set(orgId, (tenant.organizations.get(orgId) ?? 0) + 1);
    this.#count += 1;
    if (this.#contendedMax !== Number.POSITIVE_INFINITY && tenantId !== nobody.tenantId) this.#note(tenantId, orgId);
    this.#countPerson(owner, 1);
  }

  give(owner: ShareOwner): void {
    const { tenantId, orgId } = owner;
    const tenant = this.#tenants.get(tenantId);
    const own = tenant?.organizations.get(orgId);
    if (tenant === undefined || own === undefined) return;
    this.#count -= 1;
    this.#countPerson(owner, -1);
    tenant.count -= 1;
    if (tenant.count === 0) this.#tenants.delete(tenantId);
    else if (own === 1) tenant.organizations.delete(orgId);
    else tenant.organizations.set(orgId, own - 1);
  }

  /**
   * Chooses whose turn it is: among owners that may take a place, the one whose tenant holds the fewest; among equals, the tenant
   * whose last turn is longest ago; within the tenant, by the same rules for organizations. Remembers the turn, but takes no place.
   */
  choose<Owner extends ShareOwner>(waiting: Iterable<Owner>): Owner | undefined {
    let best: { readonly owner: Owner; readonly rank: readonly number[] } | undefined;
    for (const owner of waiting) {
      if (this.refusal(owner) !== undefined) continue;
      const rank = this.#rank(owner);
      if (best === undefined || isBefore(rank, best.rank)) best = { owner, rank };
    }
    if (best === undefined) return undefined;
    this.#turn += 1;
    this.#tenantTurns.set(best.owner.tenantId, this.#turn);
    this.#organizationTurns.set(best.owner.orgId, this.#turn);
    return best.owner;
  }

  #isContended(contenders: Contenders | undefined, count: number, id: string): boolean {
    if (contenders === undefined || count < this.#contendedMax || id === nobody.tenantId) return false;
    return this.#nowMs() - contenders.lastOfOthersMs(id) < contenderMs;
  }

  #note(tenantId: string, orgId: string): void {
    const nowMs = this.#nowMs();
    this.#contenders.note(tenantId, nowMs);
    const ofTenant = this.#contendersOfTenants.get(tenantId) ?? new Contenders();
    ofTenant.note(orgId, nowMs);
    this.#contendersOfTenants.set(tenantId, ofTenant);
  }

  #ofPerson({ orgId, userId }: ShareOwner): number {
    return userId === undefined ? 0 : (this.#people.get(`${orgId} ${userId}`) ?? 0);
  }

  /** Only where people have a limit: other pools keep no count of them. */
  #countPerson(owner: ShareOwner, by: 1 | -1): void {
    if (this.#personMax === Number.POSITIVE_INFINITY || owner.userId === undefined) return;
    const key = `${owner.orgId} ${owner.userId}`;
    const count = this.#ofPerson(owner) + by;
    if (count > 0) this.#people.set(key, count);
    else this.#people.delete(key);
  }

  #rank({ tenantId, orgId }: ShareOwner): readonly number[] {
    const tenant = this.#tenants.get(tenantId);
    return [
      tenant?.count ?? 0,
      this.#tenantTurns.get(tenantId) ?? 0,
      tenant?.organizations.get(orgId) ?? 0,
      this.#organizationTurns.get(orgId) ?? 0,
    ];
  }
}

/** When each of several owners took its last place, as far as one of them has to know it of the others. */
class Contenders {
  #latest: { readonly id: string; atMs: number } | undefined;
  #beforeMs = Number.NEGATIVE_INFINITY;

  note(id: string, atMs: number): void {
    if (this.#latest?.id === id) {
      this.#latest.atMs = atMs;
      return;
    }
    this.#beforeMs = this.#latest?.atMs ?? this.#beforeMs;
    this.#latest = { id, atMs };
  }

  lastOfOthersMs(id: string): number {
    return this.#latest === undefined || this.#latest.id === id ? this.#beforeMs : this.#latest.atMs;
  }
}

interface TenantPlaces {
  count: number;
  readonly organizations: Map<string, number>;
}

function toFactor(percent: number): number {
  return percent / (100 - percent);
}

function isBefore(rank: readonly number[], other: readonly number[]): boolean {
  for (const [index, value] of rank.entries()) {
    const otherValue = other[index] ?? 0;
    if (value !== otherValue) return value < otherValue;
  }
  return false;
}
