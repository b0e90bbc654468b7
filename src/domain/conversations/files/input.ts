import { type FilePurpose, filePurposes } from '../../../entities/conversations/files/file.ts';
import type { Deps } from '../../deps.ts';
import type { Faults } from '../../ground/faults.ts';

export type Optional<T> = T | null | undefined;

const expirySeconds = { min: 3_600, max: 2_592_000 };
/** Purposes of the common format that need what the service does not have. */
const unservedPurposes: Readonly<Record<string, string>> = {
  batch: 'Parley runs no batches',
  'fine-tune': 'Parley trains no models',
  evals: 'Parley runs no evaluations',
};

/** Largest file of a purpose: what a response is given must fit a chat file. */
export function findBytesMax({ settings }: Deps, purpose: FilePurpose): number {
  return purpose === 'assistants' ? settings.UPLOAD_MAX_BYTES : settings.CHAT_FILE_MAX_BYTES;
}

export function readPurpose(purpose: string, faults: Faults): FilePurpose {
  const purposeName = filePurposes.find((name) => name === purpose);
  if (purposeName !== undefined) return purposeName;
  const why = Object.hasOwn(unservedPurposes, purpose) ? `: ${unservedPurposes[purpose]}` : '';
  faults.add('purpose', `purpose must be one of ${filePurposes.join(', ')}${why}`, 'INVALID_VALUE', { enum: filePurposes });
  return 'user_data';
}

/** When a file expires, and what the request calls the members that say so. */
export interface ExpiryInput {
  readonly anchor: unknown;
  readonly seconds: unknown;
  readonly params: { readonly anchor: string; readonly seconds: string };
  /** As messages name the members; default: as `params`. */
  readonly shown?: { readonly anchor: string; readonly seconds: string };
}

/** @returns the seconds; undefined for a file that does not expire. */
export function readExpiry(
  { anchor, seconds, params, shown: paramNames = params }: ExpiryInput,
  faults: Faults,
): number | undefined {
  const { min, max } = expirySeconds;
  if ((anchor ?? null) === null && (seconds ?? null) === null) return undefined;
  if (anchor !== 'created_at') faults.add(params.anchor, `${paramNames.anchor} must be created_at`);
  if (typeof seconds === 'number' && Number.isInteger(seconds) && seconds >= min && seconds <= max) return seconds;
  faults.add(params.seconds, `${paramNames.seconds} must be a whole number from ${min} to ${max}`);
  return undefined;
}
