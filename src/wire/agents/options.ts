import { z } from 'zod';
import {
  type AgentOptionName,
  type AgentOptions,
  agentOptionList,
  type SamplingOptionName,
  samplingOptionList,
} from '../../entities/agents/options.ts';
import { body } from '../ground/body.ts';
import { described, integerRange, list, range, type Sent } from '../ground/schema.ts';
import { shapedType } from '../ground/shape.ts';

const members = agentOptionList.map(({ name, description, listDescription = description }) => [
  name,
  list(listDescription, z.number()).nullish(),
]);

export const agentOptionsBody = body(
  'AgentOptionsInput',
  'How the model samples: arrays of at most 16 numbers, the first of which is used.',
  Object.fromEntries(members) as Readonly<Record<AgentOptionName, z.ZodOptional<z.ZodNullable<z.ZodArray<z.ZodNumber>>>>>,
);

const shownMembers = agentOptionList.map(({ name, description, isWhole }) => [
  name,
  list(description, isWhole ? described<number>({ type: 'integer', format: 'int32' }) : z.number()),
]);
export const shownOptions = shapedType(
  'AgentOptions',
  'How the model samples. Each member is an array of numbers; the first is the one used; empty leaves it to the model.',
  Object.fromEntries(shownMembers) as Readonly<Record<AgentOptionName, z.ZodArray<z.ZodType<number, number>>>>,
);

/** Every member has a value, also an unset one: clients may rely on arrays. */
export function showOptions(options: AgentOptions): Sent<typeof shownOptions> {
  const values = agentOptionList.map(({ name }) => [name, options[name] ?? []]);
  return Object.fromEntries(values) as Sent<typeof shownOptions>;
}

/** The options that a model gets, as members of a request: one number each. */
export const samplingMembers = Object.fromEntries(
  samplingOptionList.map(({ name, min, max, isWhole, description, requestDescription = description }) => [
    name,
    (isWhole ? integerRange : range)(min, max, { description: requestDescription }).nullish(),
  ]),
) as Readonly<Record<SamplingOptionName, z.ZodOptional<z.ZodNullable<z.ZodNumber>>>>;
