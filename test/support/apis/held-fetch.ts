const held = new Set<Response>();

/**
 * `fetch` for streams that a test leaves unread. Node's own ends the stream of a response as soon as nobody can read it any more, which
 * happens at a random moment; this one holds the response until its signal fires, else for as long as the worker runs.
 */
export async function heldFetch(url: string, init: RequestInit = {}): Promise<Response> {
  const response = await fetch(url, init);
  if (response.headers.get('content-type')?.startsWith('text/event-stream') !== true) return response;
  held.add(response);
  init.signal?.addEventListener('abort', () => held.delete(response), { once: true });
  return response;
}
