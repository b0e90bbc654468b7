import { getAgent } from '../../../domain/agents/agents.ts';
import { exportAgent } from '../../../domain/operations/bundles/export.ts';
import { bundleFile } from '../../../domain/operations/bundles/file.ts';
import { type ImportResult, importAgent } from '../../../domain/operations/bundles/import.ts';
import type { AgentBundle } from '../../../entities/agents/bundle.ts';
import { AgentType } from '../../agents/agents.ts';
import { SecretTypeType } from '../../agents/secrets.ts';
import { builder } from '../../ground/builder/builder.ts';
import { WarningType } from '../../ground/types/warnings.ts';
import { ImportAgentInput } from './inputs.ts';

const RequiredSecretResource = builder.objectRef<AgentBundle['requiredSecrets'][number]>('RequiredSecret').implement({
  access: { scope: 'AGENTS:READ' },
  description: 'A credential that the importer of the bundle supplies.',
  fields: (t) => ({
    key: t.exposeString('key', { description: 'The name by which tools refer to it.' }),
    description: t.exposeString('description', { description: 'What it is for.' }),
    secretType: t.expose('secretType', { type: SecretTypeType, description: 'The kind of credential.' }),
  }),
});

const ImportAgentPayload = builder.objectRef<ImportResult>('ImportAgentPayload').implement({
  access: { scope: 'AGENTS:READ' },
  description: 'The result of an import.',
  fields: (t) => ({
    agentId: t.exposeID('agentId', { nullable: true, description: 'The new agent; null for a dry run.' }),
    agent: t.field({
      type: AgentType,
      nullable: true,
      description: 'The new agent; null for a dry run.',
      resolve: ({ agentId }, _args, { deps, caller }) => (agentId === null ? null : getAgent(deps, caller, agentId)),
    }),
    warnings: t.exposeStringList('warnings', {
      description:
        'What is not as it was, sorted: `model substituted: …`, `skills skipped: …`, `data sources skipped: …`, `secret missing: <key>`, `data source content not included: <name>`.',
    }),
  }),
});

const AgentExportType = builder.objectRef<AgentBundle>('AgentExport').implement({
  access: { scope: 'AGENTS:READ' },
  description: 'A portable agent, without any secret.',
  fields: (t) => ({
    file: t.field({
      type: 'JSON',
      description:
        'The file, which `importAgent` takes as it is. The same agent gives the same file but for `exportedAt`. JSON: it is a document of the user, which other installations read; docs/agents.md describes it.',
      resolve: bundleFile,
    }),
    requiredSecrets: t.field({
      type: [RequiredSecretResource],
      description: 'What its tools need, by key.',
      resolve: ({ requiredSecrets }) => requiredSecrets,
    }),
    warnings: t.field({
      type: [WarningType],
      description: 'What the caller may not read and the file therefore lacks, each with its member; none when it is whole.',
      resolve: ({ warnings }) => warnings ?? [],
    }),
  }),
});

builder.queryField('agentBundle', (t) =>
  t.field({
    authScopes: { key: 'AGENTS:READ' },
    type: AgentExportType,
    description:
      'A portable agent, for everybody who may use an agent of the own organization; INSTANCE keys across organizations. Warnings name what the key may not read and is left out.',
    args: {
      agentId: t.arg.id({ description: 'The id of the agent.' }),
      includeDataSources: t.arg.boolean({
        required: false,
        description:
          'Whether its knowledge comes along. Default: when the key has the scope DATA_SOURCES:READ; true without it is INSUFFICIENT_SCOPE.',
      }),
      includeEvaluation: t.arg.boolean({
        required: false,
        description:
          'Whether datasets and the gate come along, for who may edit the agent. Default: true. Cases that were made of what people said are left out.',
      }),
      dataSourceIds: t.arg.idList({ required: false, description: 'Only these data sources.' }),
    },
    resolve: async (_root, { agentId, ...query }, { deps, caller, notes, terms }) => {
      const idsText = terms?.dataSourceIds;
      const dataSourceIds = typeof idsText === 'string' ? idsText.split(',').map((id) => id.trim()) : query.dataSourceIds;
      const bundle = await exportAgent(deps, caller, agentId, { ...query, dataSourceIds });
      if (bundle.warnings !== null) notes?.set('x-parley-warnings', bundle.warnings.map(({ message }) => message).join('; '));
      return bundle;
    },
  }),
);

builder.mutationField('importAgent', (t) =>
  t.field({
    authScopes: { key: 'AGENTS:WRITE' },
    type: ImportAgentPayload,
    description: "Makes an agent of the caller's own from a bundle: all of it, or nothing.",
    args: {
      input: t.arg({ type: ImportAgentInput, description: 'The bundle, and what it needs.' }),
      dryRun: t.arg.boolean({ required: false, description: 'Only reports the result and writes nothing. Default false.' }),
    },
    resolve: (_root, { input, dryRun }, { deps, caller, signal }) => importAgent(deps, caller, input, dryRun ?? false, signal),
  }),
);
