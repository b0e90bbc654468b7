import type { ImageModelV4, ImageModelV4File } from '@ai-sdk/provider';
import { malformed } from '../openai/errors.ts';
import { type GivenImage, type ImageRequest, type MakeImages, ModelError } from '../port.ts';
import { modelError } from './ai-sdk-model.ts';

/** Adapts the image models of an AI SDK provider to the port. The SDK repeats nothing by itself on this level. */
export function createAiSdkImages(imageModel: (name: string) => Promise<ImageModelV4>, timeoutMs: number): MakeImages {
  return async (request, signal) => {
    const timeout = AbortSignal.timeout(timeoutMs);
    try {
      const model = await imageModel(request.model);
      const { images, usage } = await model.doGenerate({
        ...{ prompt: request.prompt, n: request.n, aspectRatio: undefined, seed: undefined, providerOptions: {} },
        size: sizeOf(request),
        files: request.images.length === 0 ? undefined : request.images.map(fileOf),
        mask: request.mask === undefined ? undefined : fileOf(request.mask),
        abortSignal: AbortSignal.any([signal, timeout]),
        headers: { 'idempotency-key': request.idempotencyKey },
      });
      if (images.length === 0) throw malformed('it has no image');
      return {
        images: images.map((image) => (typeof image === 'string' ? Buffer.from(image, 'base64') : Buffer.from(image))),
        usage:
          usage?.inputTokens === undefined || usage.outputTokens === undefined
            ? undefined
            : { inputTokens: usage.inputTokens, outputTokens: usage.outputTokens, cachedTokens: 0, reasoningTokens: 0 },
      };
    } catch (error) {
      signal.throwIfAborted();
      if (timeout.aborted) throw new ModelError('UPSTREAM_TIMEOUT', 'The model provider fell silent', false);
      throw modelError(error);
    }
  };
}

function sizeOf({ size }: ImageRequest): `${number}x${number}` | undefined {
  return size !== undefined && /^\d+x\d+$/.test(size) ? (size as `${number}x${number}`) : undefined;
}

function fileOf({ bytes, mimeType }: GivenImage): ImageModelV4File {
  return { type: 'file', mediaType: mimeType, data: new Uint8Array(bytes) };
}
