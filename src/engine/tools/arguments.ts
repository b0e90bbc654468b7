import { DomainError } from '../../entities/ground/errors.ts';
import { isObject, type JsonObject } from '../../lib/json/json.ts';
import { storableText } from '../../lib/text/text.ts';

/** The arguments that a model wrote. @throws DomainError that tells the model what is wrong, as all functions here do. */
export function readArguments(args: string): JsonObject {
  const value = parseArguments(args);
  if (!isObject(value)) throw wrongArguments('The arguments must be an object');
  return value;
}

/** A text of at most so many UTF-16 code units. */
export function limitedText(value: unknown, name: string, lengthMax: number): string {
  if (typeof value !== 'string') throw wrongArguments(`${name} must be a string`);
  if (value.length > lengthMax) throw wrongArguments(`${name} must have at most ${lengthMax} characters`);
  return storableText(value);
}

/** One text of the arguments, as the model wrote it. */
export function plainArgument(args: string, name: string): string | undefined {
  const argumentValue = parseArguments(args);
  const value = isObject(argumentValue) ? argumentValue[name] : undefined;
  return typeof value === 'string' ? value : undefined;
}

/** The same, trimmed; it must not be blank. */
export function textArgument(args: string, name: string, lengthMax: number): string {
  const text = storableText(plainArgument(args, name) ?? '').trim();
  if (text === '') throw wrongArguments(`The arguments must hold ${name}, a string that is not blank`);
  return limitedText(text, name, lengthMax);
}

/** The same for showing a call: '' where there is none. */
export function printableArgument(args: string, name: string, lengthMax: number): string {
  try {
    return textArgument(args, name, lengthMax);
  } catch {
    return '';
  }
}

export function wrongArguments(message: string): DomainError {
  return new DomainError('INVALID_VALUE', message);
}

function parseArguments(args: string): unknown {
  try {
    return JSON.parse(args);
  } catch {
    throw new DomainError('INVALID_JSON', 'The arguments are no JSON');
  }
}
