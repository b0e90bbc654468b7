import { SourceError } from '../error.ts';
import type { VendorReply } from '../vendor/client.ts';

/** What a refusal means where its body says more than its status. */
export function atlassianRefusal(service: string): (reply: VendorReply) => SourceError | undefined {
  return ({ status, body }) => {
    const isAboutScopes = (status === 401 || status === 403) && /scope/i.test(body.toString('utf8', 0, 4_096));
    if (!isAboutScopes) return undefined;
    return new SourceError('AUTH', `The connection does not allow ${service} to be read: connect it again, and agree to that.`);
  };
}
