import { createHmac } from 'node:crypto';

/**
 * The headers that sign a body as Standard Webhooks say (https://www.standardwebhooks.com).
 *
 * @param secrets  `whsec_…`; each signs, so that receivers can change from one to the next.
 * @param id  the same for every attempt to send the same thing.
 * @param at  the time of this attempt: receivers refuse what is older than five minutes.
 */
function signWebhook(secrets: readonly string[], id: string, at: Date, body: string): Record<string, string> {
  const timestamp = String(Math.floor(at.getTime() / 1_000));
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  });
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') };
}

/** The members of a request that posts a signed JSON body. Redirects are not followed. */
export function signedPost(url: string, body: string, id: string, at: Date, secrets: readonly string[]) {
  const headers = { 'content-type': 'application/json', ...signWebhook(secrets, id, at, body) };
  return { url, method: 'POST' as const, headers, body, redirectsMax: 0 };
}
