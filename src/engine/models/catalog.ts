import type { Logger } from 'pino';
import type { ModelRoute } from './providers/models-file.ts';
import type { ListedModel, ModelPrice, Provider } from './providers/provider.ts';

/** A model that callers may name. */
export interface ModelInfo {
  /** `provider/name`. */
  readonly id: string;
  readonly provider: string;
  /** Milliseconds since the epoch. */
  readonly createdAtMs: number;
  readonly isPremium: boolean;
  readonly acceptsImages: boolean;
  readonly contextTokensMax: number;
  /** Null when the operator gave no price. */
  readonly price: ModelPrice | null;
}

/** A value of `model` for completions: a model, or an agent. */
export interface CatalogEntry {
  readonly id: string;
  /** The name shown to people. */
  readonly name: string;
  readonly createdAtMs: number;
  /** The provider of a model, or the organization of an agent. */
  readonly owner: string;
}

interface Shelf {
  readonly provider: Provider;
  models: readonly ListedModel[];
  /** Null until the provider has answered, and after a failure. */
  listedAtMs: number | null;
  askedAtMs: number;
}

const contextTokensMaxDefault = 128_000;
/** A provider that could not be reached is not asked again before this time has passed. */
const askAgainMs = 5_000;

/** The list of models. Answers from memory; an old list is fetched again after the answer. */
export class Catalog {
  readonly #shelves: readonly Shelf[];
  readonly #routes: readonly ModelRoute[];
  readonly #ttlMs: number;
  readonly #logger: Logger;
  readonly #now: () => Date;
  readonly #closing = new AbortController();
  readonly #startedAtMs: number;
  #refreshing: Promise<void> | undefined;
  #infos: readonly ModelInfo[] = [];
  #byId = new Map<string, ModelInfo>();
  #byBareName = new Map<string, ModelInfo | null>();

  constructor(providers: readonly Provider[], routes: readonly ModelRoute[], ttlMs: number, logger: Logger, now: () => Date) {
    this.#shelves = providers.map((provider) => ({
      provider,
      models: [],
      listedAtMs: null,
      askedAtMs: Number.NEGATIVE_INFINITY,
    }));
    this.#routes = routes;
    this.#ttlMs = ttlMs;
    this.#logger = logger;
    this.#now = now;
    this.#startedAtMs = now().getTime();
    void this.#refresh();
  }

  /** Resolves when every provider has answered or failed once. */
  async list(): Promise<readonly ModelInfo[]> {
    if (this.#shelves.some((shelf) => shelf.listedAtMs === null)) await this.#refresh();
    else this.#refreshIfOld();
    return this.#infos;
  }

  find(id: string): ModelInfo | undefined | Promise<ModelInfo | undefined> {
    const modelInfo = this.#lookUp(id);
    if (modelInfo === undefined) return this.#findAfterRefresh(id);
    this.#refreshIfOld();
    return modelInfo;
  }

  /** The first model of the first provider that has one. */
  first(): ModelInfo | undefined {
    return this.#infos[0];
  }

  /** Whether a model is in a list of its provider or in a route of the models file: callers cannot add to these. */
  has(id: string): boolean {
    return this.#byId.has(id);
  }

  /** The price of a full id; null when the operator gave none. */
  priceOf(id: string): ModelPrice | null {
    return this.#byId.get(id)?.price ?? null;
  }

  /** At which providers this service could not sign in, a sentence each. Anybody may read them, so they hold no details. */
  problems(): readonly string[] {
    return this.#shelves.flatMap(({ provider: { id, identity } }) =>
      identity?.problem === undefined
        ? []
        : [`This service cannot sign in at the model provider ${id}; its log and parley doctor say why.`],
    );
  }

  provider(id: string): Provider | undefined {
    return this.#shelves.find((shelf) => shelf.provider.id === id)?.provider;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all(this.#shelves.map((shelf) => shelf.provider.close()));
  }

  #lookUp(id: string): ModelInfo | undefined {
    return this.#byId.get(id) ?? this.#byBareName.get(id) ?? undefined;
  }

  /** An unknown name may be a new model. If a provider cannot list its models, every name is accepted for it. */
  async #findAfterRefresh(id: string): Promise<ModelInfo | undefined> {
    const newest = Math.max(...this.#shelves.map((shelf) => shelf.askedAtMs));
    if (this.#refreshing !== undefined || this.#now().getTime() - newest >= askAgainMs) await this.#refresh();
    const modelInfo = this.#lookUp(id);
    if (modelInfo !== undefined) return modelInfo;
    const { provider, name } = splitModelId(id);
    const shelf = this.#shelves.find((candidate) => candidate.provider.id === provider);
    return shelf !== undefined && name !== '' && shelf.models.length === 0 ? this.#infoOf(provider, { name }) : undefined;
  }

  #refreshIfOld(): void {
    const nowMs = this.#now().getTime();
    const isDue = (shelf: Shelf) =>
      nowMs - (shelf.listedAtMs ?? Number.NEGATIVE_INFINITY) > this.#ttlMs && nowMs - shelf.askedAtMs >= askAgainMs;
    if (this.#shelves.some(isDue)) void this.#refresh();
  }

  #refresh(): Promise<void> {
    this.#refreshing ??= Promise.all(this.#shelves.map((shelf) => this.#fill(shelf))).then(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  async #fill(shelf: Shelf): Promise<void> {
    shelf.askedAtMs = this.#now().getTime();
    try {
      shelf.models = await shelf.provider.list(this.#closing.signal);
      shelf.listedAtMs = this.#now().getTime();
      void this.#signIn(shelf.provider);
    } catch (error) {
      // The list from before is still the best information.
      if (!this.#closing.signal.aborted) {
        const reason = error instanceof Error ? error.message : String(error);
        this.#logger.warn({ provider: shelf.provider.id, reason }, 'a model provider cannot list its models');
      }
    }
    this.#index();
  }

  /** An operator learns at the start that an identity is wrong, not by the first run. */
  async #signIn({ id, identity }: Provider): Promise<void> {
    const reason = await identity?.check();
    if (reason === undefined || this.#closing.signal.aborted) return;
    this.#logger.warn({ provider: id, reason }, 'this service cannot sign in at a model provider');
  }

  #index(): void {
    const infos = this.#shelves.flatMap((shelf) => shelf.models.map((model) => this.#infoOf(shelf.provider.id, model)));
    const infosById = new Map(infos.map((info) => [info.id, info] as const));
    const routeModels = this.#routes
      .filter((route) => !infosById.has(route.id))
      .map((route): ModelInfo => {
        const { provider, name } = splitModelId(route.id);
        const primary = infosById.get(route.primary) ?? this.#infoOf(provider, { name });
        return { ...primary, id: route.id, provider, isPremium: route.isPremium ?? primary.isPremium };
      });
    // The built-in model stays last.
    this.#infos = [
      ...infos.filter((info) => info.provider !== 'parley'),
      ...routeModels,
      ...infos.filter((info) => info.provider === 'parley'),
    ];
    this.#byId = new Map(this.#infos.map((info) => [info.id, info] as const));
    this.#byBareName = new Map();
    for (const info of this.#infos) {
      const { name } = splitModelId(info.id);
      this.#byBareName.set(name, this.#byBareName.has(name) ? null : info);
    }
  }

  #infoOf(provider: string, model: ListedModel): ModelInfo {
    return {
      id: `${provider}/${model.name}`,
      provider,
      createdAtMs: model.createdAtMs ?? this.#startedAtMs,
      isPremium: model.isPremium ?? false,
      acceptsImages: model.acceptsImages ?? provider !== 'parley',
      contextTokensMax: model.contextTokensMax ?? contextTokensMaxDefault,
      price: model.price ?? null,
    };
  }
}

/** `openai/meta/llama` is `meta/llama` of `openai`. */
export function splitModelId(id: string): { readonly provider: string; readonly name: string } {
  const slash = id.indexOf('/');
  return slash < 0 ? { provider: '', name: id } : { provider: id.slice(0, slash), name: id.slice(slash + 1) };
}
