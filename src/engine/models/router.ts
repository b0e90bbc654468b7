import type { Logger } from 'pino';
import { Catalog, type ModelInfo, splitModelId } from './catalog.ts';
import { Circuit } from './circuit.ts';
import type { ReadEnvironment } from './clouds/identity.ts';
import { requireInlineImages } from './inline-images.ts';
import type { Embed, ImageBounds, MakeImages, ModelRequest } from './port.ts';
import { configuredProviders, type ModelSettings } from './providers/configured.ts';
import { readModelsFile } from './providers/models-file.ts';
import type { ModelPrice, Provider } from './providers/provider.ts';
import { type RoutedStream, routeStream } from './route-stream.ts';
import { type ProviderRouting, routedChain } from './routing.ts';

/** Age at which a provider's list of models is fetched again. */
const modelListTtlMs = 60_000;

/** The models of this process: the built-in one, the providers of the settings, the routes of the models file. */
export interface ModelRouter {
  /** All usable models in a stable order. Agents without a model use the first, unless DEFAULT_MODEL is set. */
  list(): Promise<readonly ModelInfo[]>;
  /** Resolves a full id or a unique bare name; undefined when there is none. Answers from memory when warm. */
  find(modelId: string): ModelInfo | undefined | Promise<ModelInfo | undefined>;
  /** Whether the operator or a provider's list names this full id. False for a name that is accepted only because its provider lists none. */
  isConfigured(modelId: string): boolean;
  /** The price of a full id; null when the operator gave none. */
  priceOf(modelId: string): ModelPrice | null;
  /** The full ids of the models that may answer for a model or a route, the first one first. */
  chainOf(modelId: string, routing?: ProviderRouting): readonly string[];
  /** DEFAULT_MODEL, else the first model of the first configured provider as far as known (see `warm`), else the built-in one. */
  defaultModelId(): string;
  /** Asks all providers for their models once, so that the default is known. Waits at most `timeoutMs`; the requests go on. */
  warm(timeoutMs: number): Promise<void>;
  /** Whether the operator configured a provider of this id. */
  hasProvider(id: string): boolean;
  /** Whether any provider is left to ask for a model (a full id) with this routing. */
  isRoutable(modelId: string, routing: ProviderRouting): boolean;
  /** What of the providers does not work and an operator must mend, a sentence each, without details. */
  problems(): readonly string[];
  /** Runs `request.model` (a full id) with its retries and fallbacks before the first delta. */
  stream(request: ModelRequest, signal: AbortSignal): RoutedStream;
  /** EMBEDDING_MODEL with what makes its vectors; undefined while the setting is not set. */
  readonly embedding: EmbeddingModel | undefined;
  /** Another embedding model, such as the one of vectors made before; undefined when its provider is not configured any more. */
  embeddingOf(id: string): EmbeddingModel | undefined;
  /** The models of IMAGE_MODEL, the default first; empty while the setting is not set. */
  readonly images: readonly ImageModel[];
  close(): Promise<void>;
}

export interface EmbeddingModel {
  /** `provider/name`. */
  readonly id: string;
  /** What the provider calls it. */
  readonly name: string;
  readonly embed: Embed;
}

export interface ImageModel {
  /** `provider/name`. */
  readonly id: string;
  /** What the provider calls it. */
  readonly name: string;
  readonly makeImages: MakeImages;
  /** Undefined when it takes every option. */
  readonly bounds: ImageBounds | undefined;
}

/**
 * Builds the router from the settings. A provider that is down does not stop the start: it is asked again later.
 *
 * @param environment  reads the variables with keys that a models file names, and those of workload identities.
 * @throws Error when MODELS_FILE is wrong, or EMBEDDING_MODEL or IMAGE_MODEL names no provider that gives embeddings or images.
 */
export function createModelRouter(
  settings: ModelSettings,
  logger: Logger,
  now: () => Date,
  environment: ReadEnvironment = () => undefined,
): ModelRouter {
  const file =
    settings.MODELS_FILE === undefined ? { providers: [], routes: [], prices: {} } : readModelsFile(settings.MODELS_FILE);
  const routes = new Map(file.routes.map((route) => [route.id, route] as const));
  const providers = configuredProviders(settings, file, environment, now);
  const embedding = embeddingModel(settings.EMBEDDING_MODEL, providers);
  const images = (settings.IMAGE_MODEL ?? '').split(',').flatMap((id) => imageModels(id.trim(), providers));
  const catalog = new Catalog(providers, file.routes, modelListTtlMs, logger, now);
  const circuit = new Circuit(now);
  const builtInId = 'parley/offline';
  const namedModelIds = new Set([settings.DEFAULT_MODEL, settings.EMBEDDING_MODEL, ...images.map(({ id }) => id)]);
  for (const { id, primary, fallbacks } of file.routes) for (const model of [id, primary, ...fallbacks]) namedModelIds.add(model);
  const usualChain = (modelId: string): readonly string[] => {
    const route = routes.get(modelId);
    return route === undefined ? [modelId] : [route.primary, ...route.fallbacks];
  };
  const chainOf = (modelId: string, routing?: ProviderRouting): readonly string[] => {
    const usual = usualChain(modelId);
    const routedProviders = routing === undefined ? usual : routedChain(usual, routing, (id) => catalog.has(id));
    // A step of a flow may name a model that the providers of the request do not have.
    return routedProviders.length === 0 ? usual : routedProviders;
  };
  return {
    list: () => catalog.list(),
    problems: () => catalog.problems(),
    find: (modelId) => catalog.find(modelId),
    isConfigured: (modelId) => catalog.has(modelId) || namedModelIds.has(modelId),
    priceOf: (modelId) => file.prices[modelId] ?? catalog.priceOf(modelId),
    chainOf,
    defaultModelId: () => settings.DEFAULT_MODEL ?? catalog.first()?.id ?? builtInId,
    async warm(timeoutMs) {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, timeoutMs);
      });
      await Promise.race([catalog.list(), late]);
      clearTimeout(timer);
    },
    hasProvider: (id) => catalog.provider(id) !== undefined,
    isRoutable: (modelId, routing) => routedChain(usualChain(modelId), routing, (id) => catalog.has(id)).length > 0,
    stream(request, signal) {
      requireInlineImages(request.messages);
      const chain = chainOf(request.model, request.routing);
      const bounds = { retriesMax: settings.MODEL_RETRIES_MAX, charsMax: settings.ANSWER_MAX_CHARS };
      return routeStream({ catalog, circuit, logger, ...bounds }, chain, request, signal);
    },
    embedding,
    embeddingOf: (id) => (id === embedding?.id ? embedding : findEmbedding(id, providers)),
    images,
    close: () => catalog.close(),
  };
}

function imageModels(id: string, providers: readonly Provider[]): readonly ImageModel[] {
  if (id === '') return [];
  const { provider, name } = splitModelId(id);
  const { makeImages, imageBounds: bounds } = providers.find((candidate) => candidate.id === provider) ?? {};
  if (makeImages !== undefined && name !== '') {
    const unfit = bounds?.unfit(name);
    if (unfit !== undefined) throw new Error(`bad configuration: IMAGE_MODEL ${id}: ${unfit}`);
    return [{ id, name, makeImages, bounds }];
  }
  const imageProviderIds = providers.flatMap((candidate) => (candidate.makeImages === undefined ? [] : [candidate.id]));
  const configuredText = imageProviderIds.length === 0 ? 'none is configured' : `configured: ${imageProviderIds.join(', ')}`;
  throw new Error(
    `bad configuration: IMAGE_MODEL ${id} must be provider/name of an OpenAI-compatible provider or of Google (${configuredText})`,
  );
}

function embeddingModel(id: string | undefined, providers: readonly Provider[]): EmbeddingModel | undefined {
  if (id === undefined) return undefined;
  const modelMatch = findEmbedding(id, providers);
  if (modelMatch !== undefined) return modelMatch;
  const embeddingProviderIds = providers.filter((candidate) => candidate.embed !== undefined).map((candidate) => candidate.id);
  const configuredText =
    embeddingProviderIds.length === 0 ? 'none is configured' : `configured: ${embeddingProviderIds.join(', ')}`;
  throw new Error(
    `bad configuration: EMBEDDING_MODEL ${id} must be provider/name of an OpenAI-compatible provider (${configuredText})`,
  );
}

function findEmbedding(id: string, providers: readonly Provider[]): EmbeddingModel | undefined {
  const { provider, name } = splitModelId(id);
  const embed = providers.find((candidate) => candidate.id === provider)?.embed;
  return embed === undefined || name === '' ? undefined : { id, name, embed };
}
