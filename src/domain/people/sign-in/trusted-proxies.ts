import { isIPv6 } from 'node:net';
import type { Logger } from 'pino';
import { parseRanges } from '../../../engine/egress/allowance.ts';
import type { Settings } from '../../../settings.ts';

/** The header in which proxies of the operator name a person by e-mail: the settings TRUSTED_USER_HEADER and TRUSTED_USER_PROXIES. */
export class TrustedUsers {
  /** In lower case; undefined: no header is read. */
  readonly header: string | undefined;
  readonly #proxies: ReturnType<typeof parseRanges>;
  readonly #logger: Logger;
  #isNoted = false;

  constructor(settings: Pick<Settings, 'TRUSTED_USER_HEADER' | 'TRUSTED_USER_PROXIES'>, logger: Logger) {
    this.header = settings.TRUSTED_USER_HEADER?.toLowerCase();
    this.#proxies = parseRanges('TRUSTED_USER_PROXIES', settings.TRUSTED_USER_PROXIES);
    this.#logger = logger;
  }

  /** The value of the header, from the direct peer only. From elsewhere it counts for nothing, and the log says so once. */
  valueFrom(peer: string | undefined, value: string | undefined): string | undefined {
    if (value === undefined || value === '') return undefined;
    const address = (peer ?? '').replace(/^::ffff:(?=\d+\.)/i, '');
    if (address !== '' && this.#proxies.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')) return value;
    if (!this.#isNoted) {
      this.#isNoted = true;
      this.#logger.warn(
        `a request of ${address} has the header ${this.header}, which is ignored: it counts from TRUSTED_USER_PROXIES only. Further ones are not told.`,
      );
    }
    return undefined;
  }
}
