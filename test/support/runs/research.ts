import type { Upstream, UpstreamRequest, UpstreamScript } from '../upstream.ts';

interface AskedMessage {
  readonly role: string;
  readonly content: string | null;
}

/** The messages of a model request, as text. */
export function messagesOf(request: UpstreamRequest | undefined): readonly AskedMessage[] {
  return (request?.body?.messages ?? []) as readonly AskedMessage[];
}

/** Names of the tools that a request offers. */
export function toolsOf(request: UpstreamRequest | undefined): readonly string[] {
  return ((request?.body?.tools ?? []) as { readonly function: { readonly name: string } }[]).map((tool) => tool.function.name);
}

/** Whether a request comes from a subagent. */
export function isSubagent(request: UpstreamRequest): boolean {
  return messagesOf(request).some(
    ({ role, content }) => role === 'system' && content?.startsWith('You are a researcher') === true,
  );
}

/** The question for a subagent; undefined for a request of another run. */
export function questionOf(request: UpstreamRequest): string | undefined {
  if (!isSubagent(request)) return undefined;
  const said = messagesOf(request).find(({ role }) => role === 'user')?.content ?? '';
  // Without the passages that stand behind it.
  return said.split('\n\nThe passages below')[0]?.split('Your question: ').at(-1);
}

/** A model that calls `deep_research` once, and answers when it has the findings. */
export function scriptResearch(
  upstream: Upstream,
  questions: readonly string[],
  answer: (question: string) => UpstreamScript = (question) => ({ text: `About: ${question}` }),
): void {
  const call = { id: 'call_1', name: 'deep_research', arguments: JSON.stringify({ task: 'Find it out', questions }) };
  upstream.otherwise((request) => {
    const question = questionOf(request);
    if (question !== undefined) return answer(question);
    const isAnswered = messagesOf(request).some(({ role }) => role === 'tool');
    return isAnswered || !toolsOf(request).includes('deep_research') ? { text: 'It is done.' } : { toolCalls: [call] };
  });
}

/** A point at which a script waits until the test opens it. */
export function gate(): { readonly opened: Promise<void>; open(): void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: resolve };
}
