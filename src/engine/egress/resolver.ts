import { promises as dns } from 'node:dns';
import { isIP } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type { FairQueue } from '../../lib/flow/fair-queue.ts';
import type { ShareOwner } from '../../lib/flow/fair-share.ts';
import { bareHost } from './allowance.ts';
import { EgressError } from './error.ts';
import type { SystemNames } from './system-names.ts';

export interface ResolverOptions {
  /** Name servers as `address` or `address:port`; undefined: those of the system. */
  readonly servers: readonly string[] | undefined;
  /** Time limit of one look-up of both families. */
  readonly timeoutMs: number;
  /** Concurrent look-ups. */
  readonly lookups: FairQueue;
  readonly system: SystemNames;
  /** Whether the system's search domains may complete a short name: only when the operator named it. */
  mayComplete(name: string): boolean;
}

export interface ResolvedAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

interface Answer {
  readonly addresses: readonly ResolvedAddress[];
  readonly ttlMs: number;
}

const addressesMax = 16;
const answersMax = 1_000;
const ttlMaxMs = 60_000;
/** How long the slower of A and AAAA is waited for after the faster. */
const otherFamilyMs = 250;

/**
 * Looks up names that users choose. The system's look-up blocks one of the few threads that the whole process shares. This one asks
 * the name servers itself, with a time limit, and each organization gets a share of the look-ups.
 *
 * `localhost` is this machine; the hosts file comes before the name servers. Answers are kept for their TTL, at most a minute.
 */
export class NameResolver {
  readonly #options: ResolverOptions;
  readonly #known = new Map<string, { readonly addresses: readonly ResolvedAddress[]; readonly untilMs: number }>();

  constructor(options: ResolverOptions) {
    this.#options = options;
  }

  /**
   * @returns at least one address, IPv4 first.
   * @throws EgressError UNREACHABLE, TIMEOUT; or the signal's reason.
   */
  async resolve(hostname: string, owner: ShareOwner, signal: AbortSignal): Promise<readonly ResolvedAddress[]> {
    const name = bareHost(hostname);
    if (name === 'localhost' || name.endsWith('.localhost')) return ['127.0.0.1', '::1'].map(toResolvedAddress);
    const ofFile = await this.#options.system.addressesOf(name);
    if (ofFile.length > 0) return ofFile.map(toResolvedAddress);
    const entry = this.#known.get(name);
    if (entry !== undefined && entry.untilMs > performance.now()) return entry.addresses;
    const { lookups } = this.#options;
    await lookups.take(owner, signal);
    try {
      const { addresses, ttlMs } = await this.#lookUp(name, signal);
      this.#remember(name, addresses, ttlMs);
      return addresses;
    } finally {
      lookups.give(owner);
    }
  }

  async #lookUp(name: string, signal: AbortSignal): Promise<Answer> {
    const { system, mayComplete } = this.#options;
    const domains = mayComplete(name) ? await system.searchDomains() : [];
    for (const candidate of [name, ...domains.map((domain) => `${name}.${domain}`)]) {
      const answer = await this.#ask(candidate, signal);
      if (typeof answer !== 'string') return answer;
      if (answer === 'ENOTFOUND' || answer === 'ENODATA') continue;
      if (answer === 'ETIMEOUT' || answer === 'ECANCELLED')
        throw new EgressError('TIMEOUT', `${name} could not be looked up within ${this.#options.timeoutMs} ms`);
      throw new EgressError('UNREACHABLE', `${name} could not be looked up (${answer})`);
    }
    throw new EgressError('UNREACHABLE', `${name} has no address`);
  }

  /** Asks for A and AAAA at once. @returns the code of the failure when neither has an address. */
  async #ask(name: string, signal: AbortSignal): Promise<Answer | string> {
    const { servers, timeoutMs } = this.#options;
    // A resolver for this look-up alone: it can be cancelled without touching other look-ups.
    const resolver = new dns.Resolver({ timeout: Math.ceil(timeoutMs / 2), tries: 2 });
    if (servers !== undefined) resolver.setServers(servers);
    const cancel = () => resolver.cancel();
    const timer = setTimeout(cancel, timeoutMs);
    signal.addEventListener('abort', cancel, { once: true });
    const four = resolver.resolve4(name, { ttl: true });
    const six = resolver.resolve6(name, { ttl: true });
    try {
      await Promise.any([four, six]);
      await Promise.race([Promise.allSettled([four, six]), wait(otherFamilyMs, undefined, { ref: false })]);
    } catch (error) {
      signal.throwIfAborted();
      const codes = error instanceof AggregateError ? error.errors.map(({ code }: { code?: unknown }) => String(code)) : [];
      return codes.find((code) => code !== 'ENOTFOUND' && code !== 'ENODATA') ?? codes[0] ?? 'EUNKNOWN';
    } finally {
      signal.removeEventListener('abort', cancel);
      clearTimeout(timer);
      cancel();
    }
    const results = await Promise.allSettled([four, six]);
    const records = results.flatMap((result) => (result.status === 'fulfilled' ? result.value.slice(0, addressesMax) : []));
    if (records.length === 0) return 'ENODATA';
    return {
      addresses: records.map(({ address }) => toResolvedAddress(address)),
      ttlMs: Math.min(...records.map(({ ttl }) => ttl * 1_000), ttlMaxMs),
    };
  }

  #remember(name: string, addresses: readonly ResolvedAddress[], ttlMs: number): void {
    this.#known.delete(name);
    if (ttlMs <= 0) return;
    const [oldest] = this.#known.size >= answersMax ? this.#known.keys() : [];
    if (oldest !== undefined) this.#known.delete(oldest);
    this.#known.set(name, { addresses, untilMs: performance.now() + ttlMs });
  }
}

function toResolvedAddress(address: string): ResolvedAddress {
  return { address, family: isIP(address) === 6 ? 6 : 4 };
}
