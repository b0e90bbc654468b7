import { createFetch } from '../../egress/dispatchers.ts';
import type { Proxies } from '../../egress/proxies.ts';
import { transportFailure } from '../openai/errors.ts';

/** `fetch` of an AI SDK provider. The SDK does not say which host failed. */
export function sdkFetch(proxies: Proxies, url: URL): typeof globalThis.fetch {
  const fetch = createFetch(proxies, url);
  return async (input, init) => {
    try {
      return await fetch(input, init);
    } catch (error) {
      init?.signal?.throwIfAborted();
      throw transportFailure(error, false, proxies.proxyOf(url)?.name);
    }
  };
}
