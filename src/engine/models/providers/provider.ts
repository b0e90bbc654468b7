import type { Embed, ImageBounds, MakeImages, Model } from '../port.ts';

/** What a provider tells about a model. */
export interface ListedModel {
  /** The provider's name of the model. */
  readonly name: string;
  readonly createdAtMs?: number;
  readonly contextTokensMax?: number;
  readonly acceptsImages?: boolean;
  readonly isPremium?: boolean;
  readonly price?: ModelPrice;
}

/** In the operator's currency. */
export interface ModelPrice {
  readonly inputPerMillionTokens: number;
  readonly outputPerMillionTokens: number;
  /** Of input that the provider reads from its cache; absent: as other input. */
  readonly cachedInputPerMillionTokens?: number | undefined;
  /** Of input that the provider writes to its cache; absent: as other input. */
  readonly cacheWritePerMillionTokens?: number | undefined;
  /** Of an image that it makes, beside its tokens; absent: nothing. */
  readonly perImage?: number | undefined;
  /** Of a thousand searches of a reranker; absent: nothing. */
  readonly perThousandSearches?: number | undefined;
}

export interface Provider {
  /** The part of a model id before the first slash. */
  readonly id: string;
  readonly model: Model;
  /** Undefined on wires without embeddings. */
  readonly embed?: Embed;
  /** Undefined on wires without images. */
  readonly makeImages?: MakeImages;
  readonly imageBounds?: ImageBounds;
  /** Of a cloud: what this service signs in with. */
  readonly identity?: ProviderIdentity;
  /** Its models, in its own order. @throws any error when it cannot be reached. */
  list(signal: AbortSignal): Promise<readonly ListedModel[]>;
  close(): Promise<void>;
}

export interface ProviderIdentity {
  /** Signs in unless it has. Never rejects. @returns why it could not, for the operator; undefined when it could. */
  check(): Promise<string | undefined>;
  /** Why it could not at the last attempt. */
  readonly problem: string | undefined;
}
