import { DomainError } from '../../../entities/errors.ts';

const codeLengthMax = 100_000;

/** The program in the arguments of a call. @throws DomainError for arguments without it. */
export function codeOf(args: string, member: 'code' | 'command'): string {
  let parsed: unknown;
  try {
    parsed = JSON.parse(args);
  } catch {
    throw new DomainError('INVALID_JSON', 'The arguments are no JSON');
  }
  const code = typeof parsed === 'object' && parsed !== null ? (parsed as Record<string, unknown>)[member] : undefined;
  if (typeof code !== 'string') throw new DomainError('INVALID_VALUE', `The arguments must hold ${member}, a string`);
  if (code.length > codeLengthMax) {
    throw new DomainError('INVALID_VALUE', `${member} must have at most ${codeLengthMax} characters`);
  }
  return code;
}
