import { DomainError } from '../../../entities/ground/errors.ts';
import type { Egress, EgressReply } from '../../egress/egress.ts';
import type { EgressRequest } from '../../egress/request.ts';
import type { CallPass } from '../server-tool.ts';

/** After so many stale leases between check and send, the call is given up. */
const triesMax = 3;

/**
 * Sends a request while this process holds its run, with the call's `Idempotency-Key` unless the tool's author set that header. The
 * lease is checked before connecting, with the database if needed, and again on the open connection before the first byte.
 *
 * @throws EgressError; RunStop when another process has the run; DomainError when the lease was stale three times. Nothing was sent
 * in the last two cases.
 */
export async function sendOnce(
  egress: Egress,
  request: EgressRequest,
  pass: CallPass,
  signal: AbortSignal,
): Promise<EgressReply> {
  const headers = { 'idempotency-key': pass.key, ...request.headers };
  for (let attempt = 1; attempt <= triesMax; attempt += 1) {
    await pass.renew();
    let hasLeft = false;
    let isStale = false;
    const beforeSend = () => {
      isStale = !pass.isFresh();
      if (isStale) throw new Error('the lease of the run is not certain any more');
      hasLeft = true;
    };
    try {
      return await egress.send({ ...request, headers, beforeSend }, signal);
    } catch (error) {
      // After a redirect the request was sent already: it is not sent again.
      if (!isStale || hasLeft) throw error;
    }
  }
  throw new DomainError('OVERLOADED', 'The call was not made: this service is too slow at the moment');
}
