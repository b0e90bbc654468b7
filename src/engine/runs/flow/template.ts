import { isObject } from '../../../lib/json/json.ts';

/** A name between `{{` and `}}` in a text of a flow. */
export type TemplateName =
  | { readonly kind: 'input' | 'date' }
  | { readonly kind: 'step' | 'userInput'; readonly name: string }
  | { readonly kind: 'unknown'; readonly name: string };

const placePattern = /\{\{([^{}]*)\}\}/g;
const stepPattern = /^steps\.([A-Za-z][A-Za-z0-9_-]{0,63})\.output$/;
const userInputPattern = /^userInputs\.([A-Za-z_][A-Za-z0-9_]*)$/;

/** What a flow's texts may name, for messages. */
export const templateForms = '{{input}}, {{date}}, {{userInputs.<name>}} and {{steps.<id>.output}} of an earlier step';

/** The names in a text, in order. */
export function namesIn(template: string): readonly TemplateName[] {
  return [...template.matchAll(placePattern)].map(([, inside = '']) => readName(inside));
}

/** The names in all texts of a JSON value; names of members are no templates. */
export function namesInValue(value: unknown): readonly TemplateName[] {
  if (typeof value === 'string') return namesIn(value);
  if (Array.isArray(value)) return value.flatMap(namesInValue);
  return isObject(value) ? Object.values(value).flatMap(namesInValue) : [];
}

/**
 * Fills a text in one pass: what is filled in is never read as a template again. An unknown name stays as it is.
 *
 * @param lookUp  undefined for a name without a value.
 */
export function fill(template: string, lookUp: (name: TemplateName) => string | undefined): string {
  return template.replace(placePattern, (all, inside: string) => lookUp(readName(inside)) ?? all);
}

/** Fills every text of a JSON value; names of members stay. */
export function fillValue(value: unknown, lookUp: (name: TemplateName) => string | undefined): unknown {
  if (typeof value === 'string') return fill(value, lookUp);
  if (Array.isArray(value)) return value.map((one) => fillValue(one, lookUp));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, fillValue(one, lookUp)]));
}

function readName(inside: string): TemplateName {
  const name = inside.trim();
  if (name === 'input' || name === 'date') return { kind: name };
  const step = stepPattern.exec(name)?.[1];
  if (step !== undefined) return { kind: 'step', name: step };
  const userInput = userInputPattern.exec(name)?.[1];
  return userInput === undefined ? { kind: 'unknown', name } : { kind: 'userInput', name: userInput };
}
