import { createClient, NetworkError } from 'graphql-sse';

const pauseMaxMs = 30_000;
/** Asking again does not help: the document or the key was refused. */
const refusals = [400, 401, 403];
let refusal: Error | undefined;

/**
 * What all three pages subscribe with. A connection that breaks is opened anew, after pauses that grow. `usageChanged` tells its state at
 * once, so nothing is lost.
 */
export const stream = createClient({
  url: '/graphql',
  retryAttempts: Infinity,
  async retry(retries) {
    if (refusal !== undefined) throw refusal;
    const pauseMs = Math.min(1_000 * 2 ** retries, pauseMaxMs);
    // Not all pages at the same moment.
    await new Promise((resolve) => setTimeout(resolve, pauseMs * (0.5 + Math.random() / 2)));
  },
  async fetchFn(url: string, request: RequestInit) {
    const reply = await fetch(url, request);
    refusal = refusals.includes(reply.status) ? new Error(await reasonOf(reply.clone())) : undefined;
    return reply;
  },
  on: {
    message({ data }) {
      // A Parley that stops says so and ends the subscription. As an error of the network, the client connects to the next one.
      if (data && 'errors' in data && data.errors?.[0]?.extensions?.code === 'OVERLOADED')
        throw new NetworkError('Parley is stopping');
    },
  },
});

async function reasonOf(reply: Response): Promise<string> {
  const { errors } = await reply.json();
  return errors[0].message;
}
