/** Why a document, a source or a run of a source failed or was left out, for programs. The message beside it says what to do. */
export const knowledgeErrorCodes = [
  'AUTH',
  'FORBIDDEN',
  'NOT_FOUND',
  'RATE_LIMITED',
  'UNREACHABLE',
  'BAD_REPLY',
  'TOO_LARGE',
  'UNSUPPORTED',
  'NOINDEX',
  'ROBOTS',
  'NOTHING_LEFT',
  'CONFIGURATION',
  'BOUND_REACHED',
  'UNSUPPORTED_TYPE',
  'NO_TEXT',
  'ENCRYPTED',
  'CORRUPT',
  'TIMEOUT',
  'MEMORY',
  'CRASHED',
  'UNAVAILABLE',
  'INTERRUPTED',
  'CONTENT_MISSING',
  'FAILED',
  'INTERNAL',
] as const;
export type KnowledgeErrorCode = (typeof knowledgeErrorCodes)[number];

/** Codes are stored as text: one that this version does not know is shown as a failure on our side. */
export function knowledgeErrorCode(storedCode: string | null | undefined): KnowledgeErrorCode | null {
  if (storedCode === null || storedCode === undefined) return null;
  return knowledgeErrorCodes.find((code) => code === storedCode) ?? 'INTERNAL';
}

/** Why no more vectors of a source are made now. */
export const vectorErrorCodes = [
  'LIMIT_REACHED',
  'BUDGET_REACHED',
  'MODEL_WITHOUT_PRICE',
  'PROVIDER_UNAVAILABLE',
  'PROVIDER_REFUSED',
] as const;
export type VectorErrorCode = (typeof vectorErrorCodes)[number];

export function vectorErrorCode(storedCode: string | null): VectorErrorCode | null {
  if (storedCode === null) return null;
  return vectorErrorCodes.find((code) => code === storedCode) ?? 'PROVIDER_UNAVAILABLE';
}
