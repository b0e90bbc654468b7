import { findCatalogEntry, listCatalog, listModels } from '../../domain/agents/models.ts';
import type { CatalogEntry, ModelInfo } from '../../engine/models/catalog.ts';
import { builder } from '../ground/builder/builder.ts';
import type { GraphContext } from '../ground/builder/context.ts';
import { ModelRef } from '../ground/refs.ts';

const ModelType = ModelRef.implement({
  access: { scope: null },
  description: 'A model that runs may use.',
  fields: (t) => ({
    id: t.exposeString('id', { description: '`provider/name`.' }),
    provider: t.exposeString('provider', { description: 'The provider that runs the model.' }),
    createdAt: t.field({
      type: 'DateTime',
      description: 'When the provider published it, where it tells.',
      resolve: ({ createdAtMs }) => new Date(createdAtMs),
    }),
    isPremium: t.exposeBoolean('isPremium', { description: 'Whether the operator marks it as expensive.' }),
    acceptsImages: t.exposeBoolean('acceptsImages', { description: 'Whether it may be sent images.' }),
    contextTokensMax: t.exposeInt('contextTokensMax', { description: 'Most tokens of a conversation.' }),
    inputPricePerMillionTokens: t.float({
      nullable: true,
      description: 'As the operator states it, in the currency of COST_CURRENCY.',
      resolve: ({ price }) => price?.inputPerMillionTokens ?? null,
    }),
    outputPricePerMillionTokens: t.float({
      nullable: true,
      description: 'As the operator states it, in the currency of COST_CURRENCY.',
      resolve: ({ price }) => price?.outputPerMillionTokens ?? null,
    }),
  }),
});

const CatalogEntryType = builder.objectRef<CatalogEntry>('ModelCatalogEntry').implement({
  access: { scope: null },
  description: 'Something that `model` of a completion may name.',
  fields: (t) => ({
    id: t.exposeString('id', { description: 'The id of a model or of an agent.' }),
    name: t.exposeString('name', { description: 'For people.' }),
    createdAt: t.field({
      type: 'DateTime',
      description: 'When the provider published the model, where it tells; when the agent was made.',
      resolve: ({ createdAtMs }) => new Date(createdAtMs),
    }),
    owner: t.exposeString('owner', { description: 'The provider of a model, the organization of an agent.' }),
  }),
});

builder.queryField('models', (t) =>
  t.field({
    authScopes: { anyKey: true },
    type: [ModelType],
    description: 'The models of this installation, the default first.',
    resolve: (_root, _args, { deps }) => listModels(deps),
  }),
);

builder.queryField('modelCatalog', (t) =>
  t.field({
    authScopes: { anyKey: true },
    type: [CatalogEntryType],
    description: 'What `model` of a completion may name: models first, then agents that the caller may use.',
    resolve: (_root, _args, { deps, caller }) => listCatalog(deps, caller),
  }),
);

builder.queryField('modelCatalogEntry', (t) =>
  t.field({
    authScopes: { anyKey: true },
    type: CatalogEntryType,
    description: 'One model, or one agent that the caller may use. MODEL_NOT_FOUND when there is none.',
    args: { id: t.arg.string({ description: 'The id of a model or of an agent.' }) },
    resolve: (_root, { id }, { deps, caller }) => findCatalogEntry(deps, caller, id),
  }),
);

/** Follows an edge to a model. Null for no id, and for a model that the installation does not have any more. */
export async function findModel({ deps }: GraphContext, id: string | null | undefined): Promise<ModelInfo | null> {
  return id === null || id === undefined ? null : ((await deps.models.find(id)) ?? null);
}
