import { createHash } from 'node:crypto';
import type { Signals } from '../storage/ground/signals/signals.ts';

/**
 * The calls of tools under way in this process. A cancellation is a request of its own, which may reach another instance: it is passed on to all.
 */
export class CallsUnderWay {
  readonly #calls = new Map<string, AbortController>();
  readonly #signals: Pick<Signals, 'publish' | 'subscribe'>;
  readonly #stop: () => void;

  constructor(signals: Pick<Signals, 'publish' | 'subscribe'>) {
    this.#signals = signals;
    this.#stop = signals.subscribe('mcp-cancel', (key) => this.#cancelHere(key));
  }

  /** @returns a signal that fires when the client cancels the call. Call `end` afterwards. */
  begin(key: string): { readonly cancelled: AbortSignal; end(): void } {
    const controller = new AbortController();
    this.#calls.set(key, controller);
    const end = () => {
      if (this.#calls.get(key) === controller) this.#calls.delete(key);
    };
    return { cancelled: controller.signal, end };
  }

  cancel(key: string): void {
    if (!this.#cancelHere(key)) this.#signals.publish('mcp-cancel', key);
  }

  close(): void {
    this.#stop();
  }

  #cancelHere(key: string): boolean {
    const controller = this.#calls.get(key);
    controller?.abort(new Error('the client cancelled the call'));
    return controller !== undefined;
  }
}

/** The call of one key, session and request. Clients number their requests from 0, so the session tells them apart. */
export function callKey(keyId: string, session: string, requestId: string | number): string {
  return createHash('sha256')
    .update(JSON.stringify([keyId, session, requestId]))
    .digest('base64url');
}
