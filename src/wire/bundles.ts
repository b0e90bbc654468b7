import { z } from 'zod';
import { body, readAs } from './ground/body.ts';
import { described, text } from './ground/schema.ts';

export const agentImportBody = body('ImportAgentInput', 'A bundle to make an agent from.', {
  bundle: readAs('AgentBundleInput', z.unknown().meta({ description: 'The bundle.' })),
  name: text("Instead of the bundle's name; 1 to 200 characters.").nullish(),
  secrets: described({ description: 'Values by the keys of `requiredSecrets`: texts of at most 4,096 bytes.' }).nullish(),
});
