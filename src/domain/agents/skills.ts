import type { AgentSkill } from '../../entities/agents/part.ts';
import type { Faults } from '../ground/faults.ts';
import { createPartOperations, refuseNull } from './parts/operations.ts';

type Optional<T> = T | null | undefined;

export interface CreateSkillInput {
  readonly name: string;
  readonly description?: Optional<string>;
  readonly content: string;
  readonly enabled?: Optional<boolean>;
}
/** Absent members are kept. */
export type UpdateSkillInput = { readonly [Name in keyof CreateSkillInput]?: CreateSkillInput[Name] | null | undefined };

const lengthsMax = { name: 200, description: 10_000, content: 200_000 } as const;

/** The skills of an agent by name; without their content for callers who may not edit it. */
export const skillOperations = createPartOperations(
  {
    kind: 'skills',
    hide: (skill) => ({ ...skill, content: '' }),
    readNew: (input: CreateSkillInput, { faults }) => ({ values: readSkill('', input, faults) }),
    readChanges(input: UpdateSkillInput, before, { faults }) {
      refuseNull(input, ['name', 'content', 'enabled'], faults);
      const skillInput = {
        name: input.name ?? before.name,
        description: input.description === undefined ? before.description : input.description,
        content: input.content ?? before.content,
        enabled: input.enabled ?? before.enabled,
      };
      return { values: readSkill('', skillInput, faults) };
    },
  },
  ({ skills }) => skills,
);

/** @param prefix  prefix of member names in faults. */
export function readSkill(
  prefix: string,
  { name, description, content, enabled }: CreateSkillInput,
  faults: Faults,
): Pick<AgentSkill, 'name' | 'description' | 'content' | 'enabled'> {
  faults.requireName(`${prefix}name`, name, lengthsMax.name);
  faults.requireLength(`${prefix}description`, description ?? '', lengthsMax.description);
  faults.requireLength(`${prefix}content`, content, lengthsMax.content);
  return {
    name: name.trim().toWellFormed(),
    description: (description ?? '').toWellFormed(),
    content: content.toWellFormed(),
    enabled: enabled ?? true,
  };
}
