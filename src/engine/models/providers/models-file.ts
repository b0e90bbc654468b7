import { readFileSync } from 'node:fs';
import { z } from 'zod';

const price = z.strictObject({
  inputPerMillionTokens: z.number().nonnegative(),
  outputPerMillionTokens: z.number().nonnegative(),
  cachedInputPerMillionTokens: z.number().nonnegative().optional(),
  cacheWritePerMillionTokens: z.number().nonnegative().optional(),
});
const anyPrice = price.extend({
  inputPerMillionTokens: z.number().nonnegative().default(0),
  outputPerMillionTokens: z.number().nonnegative().default(0),
  perImage: z.number().nonnegative().optional(),
  perThousandSearches: z.number().nonnegative().optional(),
});
const modelId = z.string().regex(/^[^/\s]+\/\S+$/, 'must be provider/name');

const model = z.strictObject({
  name: z.string().min(1).describe("The provider's own name of the model."),
  contextTokensMax: z.number().int().positive().optional(),
  acceptsImages: z.boolean().optional(),
  isPremium: z.boolean().optional(),
  price: price.optional(),
});

const common = {
  id: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]*$/, 'lower-case letters, digits and dashes')
    .refine((id) => id !== 'parley', 'parley is the built-in provider'),
  headers: z.record(z.string(), z.string()).optional(),
};
const address = z.url({ protocol: /^https?$/ });

const provider = z.strictObject({
  ...common,
  wire: z.enum(['openai-compatible', 'anthropic', 'google']),
  baseUrl: address,
  apiKeyEnv: z.string().min(1).optional().describe('The environment variable that holds the key.'),
  models: z.array(model).optional().describe('When given, the provider is not asked for its models.'),
});

/** Providers in which this service signs in with the identity that its cloud gave it. None of them lists what a workload may use. */
const ofCloud = {
  ...common,
  models: z.array(model).min(1),
  instanceMetadata: z.boolean().default(false).describe('Whether the identity of the machine may be used.'),
};
const hostLabel = z.string().regex(/^[a-z0-9][a-z0-9-]*$/, 'lower-case letters, digits and dashes');
const bedrock = z.strictObject({ ...ofCloud, wire: z.literal('bedrock'), region: hostLabel, baseUrl: address.optional() });
const vertex = z.strictObject({
  ...{ ...ofCloud, wire: z.literal('vertex'), location: hostLabel, baseUrl: address.optional() },
  project: z.string().regex(/^[a-z0-9:.-]+$/, 'the id of a project'),
});
const azure = z.strictObject({
  ...{ ...ofCloud, wire: z.literal('azure'), baseUrl: address.describe('Of the resource.') },
  apiVersion: z
    .string()
    .regex(/^\d{4}-\d{2}-\d{2}(?:-preview)?$/, 'a date such as 2024-10-21')
    .optional()
    .describe('Absent: the version without dates (v1).'),
});
const anyProvider = z.preprocess(withWire, z.discriminatedUnion('wire', [provider, bedrock, vertex, azure]));

function withWire(value: unknown): unknown {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject && !('wire' in value) ? { ...value, wire: 'openai-compatible' } : value;
}

const route = z.strictObject({
  id: modelId.describe('What callers name; may be that of a model, which then gets fallbacks.'),
  primary: modelId,
  fallbacks: z.array(modelId).default([]),
  isPremium: z.boolean().optional(),
});

/** The file that MODELS_FILE names. docs/models-file.md describes it. */
const modelsFile = z.strictObject({
  providers: z.array(anyProvider).default([]),
  routes: z.array(route).default([]),
  prices: z
    .record(modelId, anyPrice)
    .default({})
    .describe('Of models for images and embeddings, of the reranker, and of others, by their full ids.'),
});
export type ModelsFile = z.infer<typeof modelsFile>;
export type ModelRoute = ModelsFile['routes'][number];

/** @throws Error naming every fault of the file at once. */
export function readModelsFile(path: string): ModelsFile {
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new Error(
      `bad configuration: MODELS_FILE ${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
  const result = modelsFile.safeParse(content);
  if (!result.success) throw new Error(`bad configuration: MODELS_FILE ${path} is wrong\n${z.prettifyError(result.error)}`);
  return result.data;
}
