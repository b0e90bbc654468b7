import type { Dispatcher } from 'undici';
import type { Upstream } from '../../egress/dispatchers.ts';
import { malformed, refusal, transportFailure } from './errors.ts';

const errorBytesMax = 64 * 1024;

/**
 * Sends a request to an OpenAI-compatible provider whose reply is one JSON document, such as embeddings or images.
 *
 * @param bytesMax  the longest reply.
 * @throws ModelError for a refusal, a failure, or a reply that is longer or no JSON; the signal's reason.
 */
export async function requestJson(
  { dispatcher, proxyName }: Upstream,
  request: Omit<Dispatcher.RequestOptions, 'method' | 'signal'>,
  signal: AbortSignal,
  bytesMax: number,
): Promise<unknown> {
  let status: number;
  let text: string;
  let retryAfter: string | undefined;
  try {
    const reply = await dispatcher.request({ ...request, method: 'POST', signal });
    status = reply.statusCode;
    retryAfter = [reply.headers['retry-after']].flat()[0];
    text = await boundedText(reply.body, status === 200 ? bytesMax : errorBytesMax);
  } catch (error) {
    signal.throwIfAborted();
    throw transportFailure(error, false, proxyName);
  }
  if (status !== 200) throw refusal(status, text, retryAfter);
  try {
    return JSON.parse(text);
  } catch {
    throw malformed('it is no JSON');
  }
}

/** A body as text. @throws ModelError when it is longer. */
async function boundedText(body: AsyncIterable<Buffer>, bytesMax: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > bytesMax) throw malformed('it is too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
