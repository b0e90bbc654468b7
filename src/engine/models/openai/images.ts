import { FormData } from 'undici';
import { membersOf, readElements, readString } from '../../../lib/json/json.ts';
import type { Upstream } from '../../egress/dispatchers.ts';
import type { ImageReply, ImageRequest, TokenUsage } from '../port.ts';
import { malformed } from './errors.ts';
import { requestJson } from './json-reply.ts';

/** Longest reply: four images of 20 MB in base64. */
const replyBytesMax = 128 * 1024 * 1024;

/**
 * Asks an OpenAI-compatible provider for images: at `/images/generations`, or with images to change at `/images/edits`. It is not asked for a form of
 * the reply, which newer models refuse: bytes in base64 and addresses are both taken.
 *
 * @throws ModelError for a refusal, a failure, or a reply without images; the signal's reason.
 */
export async function requestImages(
  upstream: Upstream,
  pathOf: (operation: string) => string,
  headers: Readonly<Record<string, string>>,
  request: ImageRequest,
  signal: AbortSignal,
): Promise<ImageReply> {
  const imageHeaders = { ...headers, 'idempotency-key': request.idempotencyKey };
  const call =
    request.images.length > 0
      ? { path: pathOf('images/edits'), headers: imageHeaders, body: toForm(request) }
      : {
          path: pathOf('images/generations'),
          headers: { 'content-type': 'application/json', ...imageHeaders },
          body: JSON.stringify(Object.fromEntries(membersOfRequest(request))),
        };
  return readReply(await requestJson(upstream, call, signal, replyBytesMax));
}

function membersOfRequest(request: ImageRequest): readonly (readonly [string, string | number])[] {
  const { model, prompt, n, size, quality, background, outputFormat, more = {} } = request;
  const members = { model, prompt, n, size, quality, background, output_format: outputFormat, ...more };
  return Object.entries(members).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
}

function toForm(request: ImageRequest): FormData {
  const form = new FormData();
  for (const [name, value] of membersOfRequest(request)) form.append(name, String(value));
  const { images, mask } = request;
  for (const { bytes, mimeType, filename } of images) {
    form.append(images.length === 1 ? 'image' : 'image[]', new Blob([new Uint8Array(bytes)], { type: mimeType }), filename);
  }
  if (mask !== undefined) form.append('mask', new Blob([new Uint8Array(mask.bytes)], { type: mask.mimeType }), mask.filename);
  return form;
}

function readReply(reply: unknown): ImageReply {
  const { data, usage } = membersOf(reply);
  const images = readElements(data).map((row) => {
    const { b64_json: base64, url } = membersOf(row);
    if (typeof base64 === 'string' && base64 !== '') return Buffer.from(base64, 'base64');
    const address = readString(url);
    if (address === undefined) throw malformed('an image has neither bytes nor an address');
    return { url: address };
  });
  if (images.length === 0) throw malformed('it has no image');
  return { images, usage: toUsage(membersOf(usage)) };
}

function toUsage(usage: Readonly<Record<string, unknown>>): TokenUsage | undefined {
  const [inputTokens, outputTokens] = [Number(usage.input_tokens), Number(usage.output_tokens)];
  if (!Number.isFinite(inputTokens) || !Number.isFinite(outputTokens)) return undefined;
  return { inputTokens, outputTokens, cachedTokens: 0, reasoningTokens: 0 };
}
