import type { ParleyError } from '@parley/client';

export interface Sending {
  /** @returns whether the service has the message. */
  readonly send: (text: string) => Promise<boolean>;
  readonly isBusy: boolean;
  readonly error: ParleyError | undefined;
}
