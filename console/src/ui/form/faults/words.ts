import type { Fault, ParleyError } from '@parley/client';
import { useMemo } from 'react';
import { type Text, useText } from '../../../text/text.ts';
import { describeCode, tellingCodes } from './codes.ts';
import { labelMember } from './members.ts';
import { serviceSentences } from './sentences.ts';

/** A failure as the service tells it: of a call, of one value, of a run, of a file. */
export type ToldFault = Pick<Fault, 'message'> & Partial<Omit<Fault, 'message'>>;

/** Says failures of the service in the language of the reader, and in the words of the form. */
export interface FaultWords {
  /** What is wrong with the value of a field; the field is not named. */
  readonly describeFault: (fault: ToldFault) => string;
  /** A sentence for each thing that is wrong. */
  readonly describeError: (error: ParleyError) => readonly string[];
}

export function useFaultWords(): FaultWords {
  const text = useText();
  return useMemo(
    () => ({
      describeFault: (fault) => describeFault(text, fault),
      describeError: (error) => describeError(text, error),
    }),
    [text],
  );
}

function describeError(text: Text, error: ParleyError): readonly string[] {
  if (error.faults.length === 0)
    return [describeFault(text, { message: error.message, code: error.code ?? codeOfStatus(error) ?? 'UNTOLD' })];
  return [...new Set(error.faults.map((fault) => describePlacedFault(text, fault)))];
}

/** A proxy in front of the service tells no code. */
function codeOfStatus({ status = 0 }: ParleyError): string | undefined {
  return codesOfStatus[status] ?? (status >= 500 ? 'SERVER_ERROR' : undefined);
}

const codesOfStatus: Readonly<Record<number, string>> = {
  401: 'INVALID_API_KEY',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  413: 'REQUEST_TOO_LARGE',
  429: 'RATE_LIMIT_EXCEEDED',
  502: 'NO_ANSWER',
  503: 'OVERLOADED',
  504: 'NO_ANSWER',
};

/** A fault that stands beside no field names its value. A sentence that the console knows whole needs no name. */
function describePlacedFault(text: Text, fault: Fault): string {
  const words = describeFault(text, fault);
  const isAboutValue = fault.path !== null && fault.message.startsWith(`${fault.path} `);
  const label = isAboutValue && findSentence(text, withoutPlace(fault)) === undefined ? labelMember(text, fault.path) : undefined;
  return label === undefined ? words : text.t('{field}: {fault}', { field: label, fault: words });
}

function describeFault(text: Text, fault: ToldFault): string {
  const { t, language } = text;
  const code = fault.code?.toUpperCase() ?? 'UNTOLD';
  const message = withoutPlace(fault);
  const sentence = findSentence(text, fault.message) ?? findSentence(text, message) ?? describeLimit(text, fault.allowed);
  if (sentence !== undefined) return sentence;
  const words = describeCode(t, code);
  if (words !== undefined && !tellingCodes.has(code)) return words;
  const shownMessage = message.charAt(0).toUpperCase() + message.slice(1);
  if (language === 'en') return shownMessage;
  return words === undefined ? shownMessage : t('{words} (The service says: “{message}”)', { words, message: shownMessage });
}

/** The message without the name of the place that it begins with. */
function withoutPlace({ path, message }: ToldFault): string {
  return typeof path === 'string' && message.startsWith(`${path} `) ? message.slice(path.length + 1) : message;
}

let patterns: readonly (readonly [RegExp, string])[] | undefined;

function findSentence({ t }: Text, message: string): string | undefined {
  patterns ??= Object.entries(serviceSentences).map(([template, sentence]) => [toPattern(template), sentence] as const);
  for (const [pattern, sentence] of patterns) {
    const match = pattern.exec(message);
    if (match !== null) return t(sentence, match.groups);
  }
  return undefined;
}

function toPattern(template: string): RegExp {
  const source = template
    .split(/(\{\w+\})/)
    .map((part) => (/^\{\w+\}$/.test(part) ? `(?<${part.slice(1, -1)}>.+)` : part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')));
  return new RegExp(`^${source.join('')}$`);
}

/** What the value must fit, where the service says it as keywords of JSON Schema. */
function describeLimit({ t, number }: Text, allowed: Fault['allowed']): string | undefined {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems, type } = allowed ?? {};
  if (typeof minimum === 'number' && typeof maximum === 'number') {
    const bounds = { min: number(minimum), max: number(maximum) };
    return type === 'integer' ? t('A whole number from {min} to {max}.', bounds) : t('A number from {min} to {max}.', bounds);
  }
  if (typeof minimum === 'number') return t('At least {min}.', { min: number(minimum) });
  if (typeof maximum === 'number') return t('At most {max}.', { max: number(maximum) });
  if (typeof maxLength === 'number' && typeof minLength === 'number' && minLength > 1) {
    return t('From {min} to {max} characters.', { min: number(minLength), max: number(maxLength) });
  }
  if (typeof maxLength === 'number') {
    const most = { max: number(maxLength) };
    return minLength === 1 ? t('From 1 to {max} characters.', most) : t('At most {max} characters.', most);
  }
  if (minLength === 1) return t('This is needed.');
  if (typeof minLength === 'number') return t('At least {min} characters.', { min: number(minLength) });
  if (typeof maxItems === 'number') return t('At most {max} of them.', { max: number(maxItems) });
  if (typeof minItems === 'number') return t('At least {min} of them.', { min: number(minItems) });
  return undefined;
}
