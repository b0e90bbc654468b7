import { DomainError } from '../../../entities/errors.ts';
import type { Egress, EgressReply } from '../../egress/egress.ts';
import type { EgressRequest } from '../../egress/request.ts';
import type { CallPass } from '../server-tool.ts';

/** A process that sleeps again and again between asking and sending gives up. */
const triesMax = 3;

/**
 * Sends the request of a call while this process holds its run, with the call's `Idempotency-Key` unless the tool's author set that header.
 * The lease is looked at before a connection is made, when the database may be asked, and again when the connection stands and nothing was written.
 *
 * @throws EgressError; RunStop when another process has the run, and DomainError when the lease ran out three times: then nothing was sent.
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
      // Behind a redirect, the request has left already: it is not made again.
      if (!isStale || hasLeft) throw error;
    }
  }
  throw new DomainError('OVERLOADED', 'The call was not made: this service is too slow at the moment');
}
