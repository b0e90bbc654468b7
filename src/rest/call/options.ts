import type { Deps } from '../../domain/deps.ts';
import type { Caller } from '../../entities/people/caller.ts';
import type { Authenticate } from '../../http/authenticate/authenticate.ts';
import type { Admissions } from '../../http/limits.ts';
import type { Metrics } from '../../http/log/metrics.ts';
import type { SseStreams } from '../../http/reply/sse.ts';
import type { Route } from '../compile.ts';

/** What the REST API is made of. */
export interface RestOptions {
  /** Compiled and checked. */
  readonly routes: readonly Route[];
  readonly deps: Deps;
  readonly metrics: Metrics;
  readonly streams: SseStreams;
  /** Shared with the other API: they limit the process. */
  readonly admissions: Admissions;
  /** Who a key belongs to and when it ends; domain/people/api-keys.ts unless a test has its own. */
  readonly keys?: {
    readonly authenticate: Authenticate;
    readonly watch: (caller: Caller, onEnd: () => void) => () => void;
  };
}
