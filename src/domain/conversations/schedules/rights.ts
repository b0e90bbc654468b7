import type { RunnableAgent } from '../../../entities/agents/agent.ts';
import { type Schedule, scheduleObstacles } from '../../../entities/conversations/schedule.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import { isId } from '../../../entities/ground/ids.ts';
import { type Caller, scopesOfRole } from '../../../entities/people/caller.ts';
import { agentForRun } from '../../agents/agents.ts';
import type { Deps } from '../../deps.ts';

/** Why a schedule cannot run: it is paused with this reason. */
export interface Obstacle {
  readonly reason: string;
}
export interface Admitted {
  /** The person of the schedule, with the rights that it has now. */
  readonly caller: Caller;
  readonly agent: RunnableAgent;
}

/** Whether a schedule may run now, asked at each time. Cost: three statements while the agent is cached. */
export async function admitSchedule(
  deps: Deps,
  schedule: Pick<Schedule, 'id' | 'orgId' | 'userId' | 'agentId' | 'webhookId'>,
): Promise<Admitted | Obstacle> {
  const person = await findPerson(deps, schedule);
  if ('reason' in person) return person;
  if (schedule.webhookId !== null && !(await takesAnswers(deps, schedule.orgId, schedule.webhookId))) return webhookGone;
  if (schedule.agentId === null) return agentGone;
  try {
    return { ...person, agent: await agentForRun(deps, person.caller, schedule.agentId) };
  } catch (error) {
    if (error instanceof DomainError && error.code === 'NOT_FOUND') return agentGone;
    throw error;
  }
}

/** The person of a schedule, as far as this person may have anything run at all. Cost: three statements. */
export async function findPerson(
  deps: Deps,
  { id, orgId, userId }: Pick<Schedule, 'id' | 'orgId' | 'userId'>,
): Promise<Pick<Admitted, 'caller'> | Obstacle> {
  const {
    legalHolds,
    people: { accounts },
  } = deps.storage;
  const role = await accounts.findRole(orgId, userId);
  const [organization] = await accounts.findOrganizations([orgId]);
  if (role === undefined || organization === undefined) {
    return { reason: 'Its owner is no member of the organization any more: hand it over, or delete it' };
  }
  if (role === 'AUDITOR') return { reason: 'Its owner is an AUDITOR now, who only reads: hand it over, or delete it' };
  // A hold on a person is not told to that person, so only one on the whole organization counts.
  const hold = await legalHolds.find({ orgId, userId: '' });
  if (hold !== undefined)
    return { reason: 'A legal hold keeps the organization as it is: switch it on again when the hold has ended' };
  const person = { userId, orgId, tenantId: organization.tenantId, role, scopes: new Set(scopesOfRole(role)) };
  return { caller: { ...person, keyId: id, level: 'ORGANIZATION' } };
}

/** Whether a webhook of the organization takes the answers of schedules: its administrators say so by the event. */
export async function takesAnswers({ storage }: Deps, orgId: string, webhookId: string): Promise<boolean> {
  const [webhook] = isId('webhook', webhookId) ? await storage.operations.webhooks.findMany([webhookId], orgId) : [];
  return webhook?.events.includes('schedule.ended') === true;
}

const webhookGone: Obstacle = { reason: scheduleObstacles.webhook };
const agentGone: Obstacle = { reason: scheduleObstacles.agent };
