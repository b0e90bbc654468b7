import type { ExecutionResult } from 'graphql';
import { keyEnded } from '../../domain/accounts/api-keys.ts';
import type { Deps } from '../../domain/deps.ts';
import { CallContext } from '../../http/context.ts';
import type { Admissions } from '../../http/limits.ts';
import type { Call, WatchKey } from './call.ts';

/** Admits queries and mutations: one that holds a run takes a place among the runs, any other waits for its caller's turn. */
export class Turns {
  readonly #deps: Deps;
  readonly #admissions: Admissions;
  readonly #watchRevocation: WatchKey;

  constructor(deps: Deps, admissions: Admissions, watchRevocation: WatchKey) {
    this.#deps = deps;
    this.#admissions = admissions;
    this.#watchRevocation = watchRevocation;
  }

  /** @throws DomainError when there is no place, when the turn does not come, and when the key is revoked meanwhile. */
  async run(call: Call, work: (context: CallContext) => ExecutionResult | Promise<ExecutionResult>): Promise<ExecutionResult> {
    const { caller, requestId, res } = call;
    const context = new CallContext(this.#deps, caller, requestId, res);
    const { requests, runs } = this.#admissions;
    if (call.document?.holdsRun !== true)
      return requests.run(
        caller,
        () => context.signal,
        async () => work(context),
      );
    const stopWatching = this.#watchRevocation(caller, () => context.abort(keyEnded()));
    try {
      runs.enter(caller);
      try {
        const result = await work(context);
        if (context.endedBy !== undefined) throw context.endedBy;
        return result;
      } finally {
        runs.leave(caller);
      }
    } finally {
      stopWatching();
    }
  }
}
