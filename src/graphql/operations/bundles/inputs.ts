import type { ImportInput } from '../../../domain/operations/bundles/read-bundle.ts';
import { agentImportBody } from '../../../wire/agents/bundles.ts';
import { describe } from '../../../wire/ground/body.ts';
import { builder } from '../../ground/builder/builder.ts';
import { byName, flatInput } from '../../ground/builder/flat-inputs.ts';
import { NamedTextInput } from '../../ground/types/named-texts.ts';

export const ImportAgentInput = flatInput<ImportInput>(
  builder.inputType('ImportAgentInput', {
    description: 'A file that an export made, to make an agent from.',
    fields: (t) => ({
      bundle: t.field({
        type: 'JSON',
        description:
          'The file, as `agentBundle` gives it. JSON: it is a document of the user, which other installations read; docs/agents.md describes it.',
      }),
      name: t.string({ required: false, description: describe(agentImportBody, 'name') }),
      secrets: t.field({
        type: [NamedTextInput],
        required: false,
        description: 'Values by the keys of `requiredSecrets`: texts of at most 4,096 bytes.',
      }),
    }),
  }),
  { body: agentImportBody, members: { bundle: { isJson: true }, secrets: byName } },
);
