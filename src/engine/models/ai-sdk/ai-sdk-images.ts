import type { ImageModelV4, ImageModelV4File } from '@ai-sdk/provider';
import { malformed } from '../openai/errors.ts';
import { type ImageReply, type ImageRequest, type InputImage, type MakeImages, ModelError } from '../port.ts';
import { toAspectRatio } from './aspect-ratio.ts';
import { modelError } from './errors.ts';

type Image = string | Uint8Array;

/**
 * Adapts the image models of an AI SDK provider to the port. On this level the SDK repeats nothing by itself, and makes one image with a call: several
 * are several calls at once. Images that were made are kept when another call fails, because they cost.
 */
export function createAiSdkImages(
  provider: string,
  imageModel: (name: string) => Promise<ImageModelV4>,
  timeoutMs: number,
): MakeImages {
  return async (request, signal) => {
    const timeout = AbortSignal.timeout(timeoutMs);
    try {
      const model = await imageModel(request.model);
      const either = AbortSignal.any([signal, timeout]);
      const calls = Array.from({ length: request.n }, (_, index) => makeOne(model, request, index, either));
      const replies = await Promise.allSettled(calls);
      const imageReplies = replies.flatMap((reply) => (reply.status === 'fulfilled' ? [reply.value] : []));
      const rejection = replies.find((reply) => reply.status === 'rejected');
      if (imageReplies.length === 0) throw rejection?.reason ?? malformed('it has no image');
      signal.throwIfAborted();
      return { images: imageReplies.flatMap(({ images }) => images), usage: sumUsage(imageReplies) };
    } catch (error) {
      signal.throwIfAborted();
      const failure = timeout.aborted ? new ModelError('UPSTREAM_TIMEOUT', 'The model provider fell silent', false) : error;
      throw modelError(failure, provider);
    }
  };
}

async function makeOne(model: ImageModelV4, request: ImageRequest, index: number, signal: AbortSignal): Promise<ImageReply> {
  const { prompt, images: inputImages, mask, size, idempotencyKey } = request;
  const { images, usage, isRetryable } = await model.doGenerate({
    ...{ prompt, n: 1, size: undefined, seed: undefined, providerOptions: {} },
    aspectRatio: toAspectRatio(size),
    files: inputImages.length === 0 ? undefined : inputImages.map(toFile),
    mask: mask === undefined ? undefined : toFile(mask),
    abortSignal: signal,
    headers: { 'idempotency-key': index === 0 ? idempotencyKey : `${idempotencyKey}:${index}` },
  });
  if (images.length === 0) {
    // The SDK marks an empty result so when the provider's filter stopped it.
    if (isRetryable === false) {
      throw new ModelError('CONTENT_FILTER', 'The model provider refused the content of this request', false);
    }
    throw malformed('it has no image');
  }
  const imageUsage =
    usage?.inputTokens === undefined || usage.outputTokens === undefined
      ? undefined
      : { inputTokens: usage.inputTokens, outputTokens: usage.outputTokens, cachedTokens: 0, reasoningTokens: 0 };
  return { images: [...images].map((image: Image) => readBytes(image)), usage: imageUsage };
}

/** Undefined when one of the calls counted nothing: the caller then charges an estimate. */
function sumUsage(replies: readonly ImageReply[]): ImageReply['usage'] {
  const sum = { inputTokens: 0, outputTokens: 0, cachedTokens: 0, reasoningTokens: 0 };
  for (const { usage } of replies) {
    if (usage === undefined) return undefined;
    sum.inputTokens += usage.inputTokens;
    sum.outputTokens += usage.outputTokens;
  }
  return sum;
}

function readBytes(image: Image): Buffer {
  return typeof image === 'string' ? Buffer.from(image, 'base64') : Buffer.from(image);
}

function toFile({ bytes, mimeType }: InputImage): ImageModelV4File {
  return { type: 'file', mediaType: mimeType, data: new Uint8Array(bytes) };
}
