import { type RequestHeaders, TestClient } from '../../support/client.ts';

/** The same person; each call has its own request id. */
export class Numbered extends TestClient {
  readonly #requestId: string;

  constructor(who: TestClient, requestId: string) {
    super(() => who.url, who.key);
    this.#requestId = requestId;
  }

  override fetch(method: string, path: string, body?: unknown, headers: RequestHeaders = {}, signal?: AbortSignal) {
    return super.fetch(method, path, body, { ...headers, 'x-request-id': this.#requestId }, signal);
  }
}
