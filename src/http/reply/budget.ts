import { DomainError } from '../../entities/errors.ts';
import type { ReplyBudget } from '../../lib/compiled-operation/compiled-operation.ts';
import type { Settings } from '../../settings.ts';

/** What one reply may take, on every API. The count stops while the reply is completed, before its text takes memory. */
export function replyBudget({ REPLY_MAX_BYTES }: Settings): ReplyBudget {
  return {
    maxBytes: REPLY_MAX_BYTES,
    refusal: () =>
      new DomainError(
        'REPLY_TOO_LARGE',
        `The reply would be larger than ${REPLY_MAX_BYTES} bytes; ask for a shorter list (limit, first) or for fewer members`,
      ),
  };
}
