import { subscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { OpenItems } from '../../lib/flow/open-items.ts';
import { loggedPath } from './logged-path.ts';

/** Notes the requests that this process answers now, by method and path. @returns what lists them. */
export function noteRequests(): () => readonly string[] {
  const requests = new OpenItems<IncomingMessage>();
  subscribe('http.server.request.start', (message) => {
    const { request, response } = message as { request: IncomingMessage; response: ServerResponse };
    const answered = requests.add(request);
    response.once('close', () => requests.remove(answered));
  });
  return () => requests.values().map(({ method = '', url = '' }) => `${method} ${loggedPath(url)}`);
}
