import { DomainError } from '../../entities/errors.ts';
import { isObject } from '../../lib/json.ts';
import { storableText } from '../../lib/text.ts';

/**
 * One text of the arguments that a model wrote.
 *
 * @throws DomainError that tells the model what is wrong.
 */
export function textArgument(args: string, name: string, lengthMax: number): string {
  let parsed: unknown;
  try {
    parsed = JSON.parse(args);
  } catch {
    throw new DomainError('INVALID_JSON', 'The arguments are no JSON');
  }
  const value = isObject(parsed) ? parsed[name] : undefined;
  const text = typeof value === 'string' ? storableText(value).trim() : '';
  if (text === '') throw new DomainError('INVALID_VALUE', `The arguments must hold ${name}, a string that is not blank`);
  if (text.length > lengthMax) throw new DomainError('INVALID_VALUE', `${name} must have at most ${lengthMax} characters`);
  return text;
}

/** The same for showing a call: '' where there is none. */
export function printableArgument(args: string, name: string, lengthMax: number): string {
  try {
    return textArgument(args, name, lengthMax);
  } catch {
    return '';
  }
}
