import type { CodegenConfig } from '@graphql-codegen/cli';

const config: CodegenConfig = {
  schema: '../../schema.graphql',
  documents: ['../../clients/typescript/documents/pages/*.graphql'],
  generates: {
    'src/__generated__/codegen/': {
      preset: 'client',
      presetConfig: { fragmentMasking: false },
      config: { enumsAsTypes: true, useTypeImports: true, scalars: { DateTime: 'string', Count: 'number', JSON: 'unknown' } },
    },
  },
};
export default config;
