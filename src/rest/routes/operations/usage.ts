import { usageShapes } from '../../../wire/usage.ts';
import type { DeclaredRoute } from '../../route.ts';

export const usageRoutes: readonly DeclaredRoute[] = [
  {
    operationId: 'getUsage',
    method: 'get',
    path: '/api/v1/usage',
    summary: 'Organization usage by AI',
    description: 'In tokens, all of it or of a period. A limit that is null is none.',
    tag: 'Usage',
    spec: 'Organization usage by AI',
    document: `query ($from: DateTime, $to: DateTime) {
      usage(from: $from, to: $to) {
        orgUsage: orgId dataTokensUsed dataUsageTokenLimit apiTokensUsed apiUsageTokenLimit
        aiUsages: agents { nodes { aiId: agentId aiDataTokensUsed: dataTokensUsed aiApiTokensUsed: apiTokensUsed } }
      }
    }`,
    terms: { whole: true },
    shapes: usageShapes,
    lists: {
      aiUsages: 'By agent, most tokens first, at most 1,000. Administrators see all of them, others those that they may use.',
    },
    query: { from: 'From this moment on. Default: the beginning.', to: 'Before this moment. Default: now.' },
  },
  {
    operationId: 'listUsageDays',
    method: 'get',
    path: '/api/v1/usage/daily',
    summary: 'Usage by day',
    description: 'Each day of a period by the clock of the organization, days without use included: at most 366.',
    tag: 'Usage',
    document: `query ($from: DateTime, $to: DateTime, $aiId: ID, $userId: ID) {
      usageDays(from: $from, to: $to, agentId: $aiId, userId: $userId) { nodes { day dataTokensUsed apiTokensUsed } }
    }`,
    query: {
      from: 'Its day is the first. Default: 30 days back.',
      to: 'The day before this moment is the last. Default: today.',
      aiId: 'Only the use of this AI.',
      userId: 'Only the use of this user: oneself, for administrators anybody. Not together with aiId.',
    },
    terms: { whole: true },
    wrap: 'data',
  },
];
