import type { Text } from '../../../../text/text.ts';
import type { AgentSecretsQuery, SecretType } from './documents.ts';

export function secretTypeName(t: Text['t'], type: SecretType): string {
  return {
    API_KEY: t('Key of an API'),
    BEARER_TOKEN: t('Bearer token'),
    BASIC_AUTH: t('User and password'),
    HEADER: t('Value of a header'),
  }[type];
}

export type Secret = NonNullable<NonNullable<AgentSecretsQuery['agent']>['secrets']>[number];
