import type { ModelDelta, ModelRequest } from './port.ts';

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
}

/** What happened when a request was routed. Filled while the stream runs; complete at its end. */
export interface Selection {
  provider: string;
  model: string;
  readonly fallbackChain: { provider: string; model: string; reason: string }[];
  queueMs: number;
  firstTokenMs: number | null;
}

export interface RoutedStream {
  readonly deltas: AsyncIterable<readonly ModelDelta[]>;
  readonly selection: Selection;
}

/** The models of this process: the built-in one, the providers of the settings, the routes of the models file. */
export interface ModelRouter {
  /** All usable models; stable order; the first is what agents without a model use unless DEFAULT_MODEL says otherwise. */
  list(): Promise<readonly ModelInfo[]>;
  /** Resolves a full id or a unique bare name; undefined when there is none. Answers from memory when warm. */
  find(modelId: string): ModelInfo | undefined | Promise<ModelInfo | undefined>;
  defaultModelId(): string;
  /** Runs `request.model` (a full id here) with its retries and fallbacks before the first delta. */
  stream(request: ModelRequest, signal: AbortSignal): RoutedStream;
  close(): Promise<void>;
}
