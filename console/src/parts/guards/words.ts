import type { Text } from '../../text/text.ts';
import type { GuardFieldsFragment, OrganizationGuardQuery } from './documents.ts';

type Kind = GuardFieldsFragment['kinds'][number];
type MaskedKind = OrganizationGuardQuery['guardCounts'][number]['kind'];

export const guardKinds: readonly Kind[] = ['EMAIL', 'PHONE', 'IBAN', 'CARD', 'IP_ADDRESS', 'API_KEY', 'PRIVATE_KEY'];

/** What is masked, by its kind. */
export const maskedWords = (t: Text['t']): Readonly<Record<MaskedKind, string>> => ({
  EMAIL: t('E-mail addresses'),
  PHONE: t('Phone numbers'),
  IBAN: t('Bank accounts (IBAN)'),
  CARD: t('Card numbers'),
  IP_ADDRESS: t('IP addresses'),
  API_KEY: t('Keys of services'),
  PRIVATE_KEY: t('Private keys'),
  CUSTOM: t('Own patterns'),
  PERSONAL: t('Names and addresses'),
});
