import type { Allowed, ErrorCode } from './errors.ts';

/** Where faults are noted. */
export interface FaultNotes {
  /** Whether more faults are not kept. */
  readonly isFull: boolean;
  add(param: string, message: string, code?: ErrorCode, allowedValues?: Allowed): void;
}
