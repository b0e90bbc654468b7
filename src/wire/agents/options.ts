import { z } from 'zod';
import { type AgentOptionName, agentOptionList } from '../../entities/agents/options.ts';
import { body } from '../ground/body.ts';
import { list } from '../ground/schema.ts';

const members = agentOptionList.map(({ name, description, listDescription = description }) => [
  name,
  list(listDescription, z.number()).nullish(),
]);

export const agentOptionsBody = body(
  'AgentOptionsInput',
  'How the model samples: arrays of at most 16 numbers, the first of which is used.',
  Object.fromEntries(members) as Readonly<Record<AgentOptionName, z.ZodOptional<z.ZodNullable<z.ZodArray<z.ZodNumber>>>>>,
);
