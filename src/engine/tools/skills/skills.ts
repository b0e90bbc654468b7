import type { RunnableAgent } from '../../../entities/agents/agent.ts';
import type { RunnableSkill } from '../../../entities/agents/part.ts';
import { areInlined, skillFunction } from '../../../entities/agents/skill-offer.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import { cutText, oneLine } from '../../../lib/text/text.ts';
import type { Storage } from '../../../storage/storage.ts';
import { estimateTokens } from '../../models/tokens.ts';
import type { ServerTool } from '../server-tool.ts';

type SkillStore = Pick<Storage['agents']['parts']['skills'], 'find'>;

const descriptionLengthMax = 500;
const namesShownMax = 2_000;
const givenOf = new WeakMap<readonly RunnableSkill[], boolean>();

/** Whether the model reads the skills of an agent with a function; otherwise it has none, or gets them at once. */
export function areOnDemand({ skills }: Pick<RunnableAgent, 'skills'>): boolean {
  if (skills.length === 0) return false;
  const isOnDemand = givenOf.get(skills);
  if (isOnDemand !== undefined) return !isOnDemand;
  const areGiven = areInlined(skills, estimateTokens);
  givenOf.set(skills, areGiven);
  return !areGiven;
}

/**
 * What stands of the skills at the end of the instructions; '' for nothing.
 *
 * @param mayAsk  the model may call `use_skill`; otherwise only skills that are given at once count.
 */
export function skillInstructions(agent: Pick<RunnableAgent, 'skills'>, mayAsk: boolean): string {
  const { skills } = agent;
  if (skills.length === 0) return '';
  if (!areOnDemand(agent)) {
    return [
      'Skills of this assistant follow. They are instructions of yours: follow one where it fits the task.',
      ...skills.map(({ name, description, content }) =>
        [`## Skill: ${oneLine(name)}`, oneLine(description), (content ?? '').trim()].filter((part) => part !== '').join('\n'),
      ),
    ].join('\n\n');
  }
  if (!mayAsk) return '';
  return [
    `This assistant has the skills below. Before you work on a task that fits one, call ${skillFunction} with its name, and follow what it returns: those are instructions of yours.`,
    ...skills.map(({ name, description }) => {
      const about = cutText(oneLine(description), descriptionLengthMax);
      return about === '' ? `- ${oneLine(name)}` : `- ${oneLine(name)}: ${about}`;
    }),
  ].join('\n');
}

/** Makes `use_skill` for an agent. Its outputs are instructions: only the model reads them, and editors of the agent. */
export function createSkillTool({ id: agentId, skills }: Pick<RunnableAgent, 'id' | 'skills'>, store: SkillStore): ServerTool {
  const names = skills.map(({ name }) => name);
  return {
    definition: {
      name: skillFunction,
      description: 'Returns the instructions of one of the skills of this assistant.',
      parameters: {
        type: 'object',
        properties: { name: { type: 'string', enum: names, description: 'The name of the skill.' } },
        required: ['name'],
        additionalProperties: false,
      },
    },
    hint: 'Reading a skill',
    ifLost: 'repeat',
    async run(args) {
      const skillName = nameIn(args);
      const skill = skills.find(({ name }) => name === skillName) ?? skills.find(({ name }) => isAlike(name, skillName));
      const nameList = cutText(names.map((name) => JSON.stringify(name)).join(', '), namesShownMax);
      if (skill === undefined) {
        throw new DomainError('NOT_FOUND', `There is no skill ${JSON.stringify(skillName.slice(0, 200))}; there are ${nameList}`);
      }
      const content = skill.content ?? (await store.find(agentId, skill.id))?.content;
      if (content === undefined) throw new DomainError('NOT_FOUND', `The skill ${JSON.stringify(skill.name)} is gone`);
      return {
        text: `Instructions of this assistant, from its skill ${JSON.stringify(skill.name)}:\n\n${content}`,
        isConfidential: true,
      };
    },
  };
}

/** @throws DomainError for arguments without a name. */
function nameIn(args: string): string {
  let input: unknown;
  try {
    input = JSON.parse(args);
  } catch {
    input = undefined;
  }
  const name = typeof input === 'object' && input !== null && 'name' in input ? input.name : undefined;
  if (typeof name === 'string') return name;
  throw new DomainError('INVALID_VALUE', 'The arguments must be an object like {"name": "…"}');
}

function isAlike(name: string, target: string): boolean {
  return oneLine(name).toLowerCase() === oneLine(target).toLowerCase();
}
