import type { NotificationSecrets } from '../../../entities/conversations/task.ts';

/**
 * The members of a request that tells a client of a task. Redirects are not followed.
 *
 * @param id  the same for every attempt to send the same thing.
 * @param secrets  `NotificationSecrets` as JSON.
 */
export function notificationPost(url: string, body: string, id: string, secrets: string) {
  const { token, scheme, credentials } = JSON.parse(secrets) as NotificationSecrets;
  const headers: Record<string, string> = { 'content-type': 'application/a2a+json', 'a2a-version': '1.0', 'webhook-id': id };
  if (token !== undefined) headers['x-a2a-notification-token'] = token;
  if (scheme !== undefined) headers.authorization = credentials === undefined ? scheme : `${scheme} ${credentials}`;
  return { url, method: 'POST' as const, headers, body, redirectsMax: 0 };
}
