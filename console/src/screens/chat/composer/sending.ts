import type { ParleyError } from '@parley/client';
import type { ThreadMode } from '../documents.ts';

export interface Sending {
  /**
   * @param threadMode  what becomes of it while an answer is being given; absent: it waits.
   * @returns whether the service has the message.
   */
  readonly send: (text: string, threadMode?: ThreadMode) => Promise<boolean>;
  readonly isBusy: boolean;
  readonly error: ParleyError | undefined;
}
