import { subscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { loggedPath } from './logged-path.ts';

/** Notes the requests that this process answers now, by method and path. @returns what lists them. */
export function noteRequests(): () => readonly string[] {
  const requests = new Map<ServerResponse, IncomingMessage>();
  subscribe('http.server.request.start', (message) => {
    const { request, response } = message as { request: IncomingMessage; response: ServerResponse };
    requests.set(response, request);
    response.once('close', () => requests.delete(response));
  });
  return () => Array.from(requests.values(), ({ method = '', url = '' }) => `${method} ${loggedPath(url)}`);
}
