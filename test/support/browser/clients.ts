import { createClient } from 'graphql-sse';
import OpenAI from 'openai';

/** What a page of another origin sees of one reply. */
export interface SeenReply {
  readonly status: number;
  readonly requestId: string | null;
  readonly retryAfter: string | null;
  readonly text: string;
}

export interface PageRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Common clients, as a page uses them; the tests call these functions from outside. */
const clients = {
  async fetch(url: string, request: PageRequest): Promise<SeenReply | { readonly failed: string }> {
    try {
      const reply = await fetch(url, request);
      const { headers } = reply;
      const [requestId, retryAfter] = [headers.get('x-request-id'), headers.get('retry-after')];
      return { status: reply.status, requestId, retryAfter, text: await reply.text() };
    } catch (error) {
      return { failed: String(error) };
    }
  },

  /** Streams one completion with the `openai` package. */
  async openai(baseURL: string, apiKey: string): Promise<string> {
    const client = new OpenAI({ baseURL, apiKey, dangerouslyAllowBrowser: true, maxRetries: 0 });
    const stream = await client.chat.completions.create({
      model: 'openai/test-model',
      stream: true,
      messages: [{ role: 'user', content: 'Hi' }],
    });
    let text = '';
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
    return text;
  },

  /** Follows a subscription with graphql-sse. */
  async sse(url: string, key: string, singleConnection: boolean): Promise<string> {
    const client = createClient({ url, singleConnection, retryAttempts: 0, headers: { authorization: `Bearer ${key}` } });
    const query = 'subscription ($input: CompletionInput!) { completionEvents(input: $input) { ... on TextDelta { delta } } }';
    const variables = { input: { model: 'openai/test-model', messages: [{ user: { text: 'Hi' } }] } };
    let text = '';
    for await (const { data, errors } of client.iterate<Events>({ query, variables })) {
      if (errors !== undefined) throw new Error(JSON.stringify(errors));
      text += data?.completionEvents.delta ?? '';
    }
    client.dispose();
    return text;
  },
};
export type Clients = typeof clients;

interface Events {
  readonly completionEvents: { readonly delta?: string };
}

Object.assign(globalThis, { clients });
