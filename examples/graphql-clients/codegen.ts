import type { CodegenConfig } from '@graphql-codegen/cli';
// Of the package: @parley/client/scalars.json.
import scalars from '../../clients/typescript/scalars.json' with { type: 'json' };

const config: CodegenConfig = {
  schema: '../../schema.graphql',
  documents: ['../../clients/typescript/documents/pages/*.graphql'],
  generates: {
    'src/__generated__/codegen/': {
      preset: 'client',
      presetConfig: { fragmentMasking: false },
      config: { enumsAsTypes: true, useTypeImports: true, scalars },
    },
  },
};
export default config;
