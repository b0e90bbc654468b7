import {
  checkAgentGate,
  getAgentGate,
  removeAgentGate,
  reportGate,
  setAgentGate,
} from '../../../domain/conversations/evaluation/gates.ts';
import {
  type AgentGate,
  type GateReport,
  type GateVerdict,
  gateVerdicts,
} from '../../../entities/conversations/evaluation/gate.ts';
import { builder } from '../../ground/builder/builder.ts';
import { ExperimentRef } from '../../ground/refs.ts';
import { createEnum } from '../../ground/types/enums.ts';
import { ScorerInputType, ScorerType } from './scorers.ts';

const GateVerdictType = createEnum('AgentGateVerdict', 'What a gate says of a draft.', gateVerdicts, {
  PASSED: 'It may be published.',
  REFUSED: 'It breaks a rule.',
  RUNNING: 'It is being asked.',
  NOT_ASKED: 'It was not asked yet, or has changed since: publishing asks it.',
} satisfies Record<GateVerdict, string>);

const access = { scope: 'AGENTS:READ' } as const;

const GateReportType = builder.objectRef<GateReport>('AgentGateReport').implement({
  access,
  description: 'What a gate says of the draft as it is now.',
  fields: (t) => ({
    verdict: t.expose('verdict', { type: GateVerdictType, description: 'Whether it may be published.' }),
    reasons: t.stringList({
      description: 'Why it may not: a sentence for each rule, with the names of cases.',
      resolve: ({ reasons }) => [...reasons],
    }),
    experimentId: t.exposeID('experimentId', {
      nullable: true,
      description: 'The experiment that it goes by; null while none was asked.',
    }),
  }),
});

const AgentGateType = builder.objectRef<AgentGate>('AgentGate').implement({
  access,
  description: 'What a draft of an agent must pass before it is published.',
  fields: (t) => ({
    agentId: t.exposeID('agentId', { description: 'The agent.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it was last set.' }),
    datasetId: t.exposeID('datasetId', { description: 'The dataset whose cases are asked.' }),
    mustTag: t.exposeString('mustTag', { nullable: true, description: 'No case with this label may fail; null: any may.' }),
    rateDropMax: t.exposeFloat('rateDropMax', {
      nullable: true,
      description: "By how many points of a hundred the rate may be below the published version's; null: by any.",
    }),
    costRatioMax: t.exposeFloat('costRatioMax', {
      nullable: true,
      description:
        'How many times the cost of the published version it may cost; null: anything. It says nothing of models without prices.',
    }),
    tokensMax: t.expose('tokensMax', { type: 'Count', description: 'Tokens that its experiment may use.' }),
    scorers: t.field({
      type: [ScorerType],
      description: 'How answers are scored; at most 20.',
      resolve: ({ scorers }) => [...scorers],
    }),
    report: t.field({
      type: GateReportType,
      description: 'What it says of the draft as it is now.',
      resolve: (gate, _args, { deps, caller }) => reportGate(deps, caller, gate),
    }),
  }),
});

const agentId = { description: 'The id of the agent.' };

builder.queryField('agentGate', (t) =>
  t.field({
    authScopes: { key: 'AGENTS:READ' },
    type: AgentGateType,
    nullable: true,
    description: 'The gate of an agent that the caller may edit; null when it has none.',
    args: { agentId: t.arg.id(agentId) },
    resolve: async (_root, args, { deps, caller }) => (await getAgentGate(deps, caller, args.agentId)) ?? null,
  }),
);

const SetAgentGateInput = builder.inputType('SetAgentGateInput', {
  description: 'A dataset and the rules that a draft must keep; at least one rule.',
  fields: (t) => ({
    datasetId: t.id({ description: 'A dataset of the agent.' }),
    mustTag: t.string({ required: false, description: 'No case with this label may fail.' }),
    rateDropMax: t.float({
      required: false,
      description: "By how many points of a hundred the rate may be below the published version's, 0 to 100.",
    }),
    costRatioMax: t.float({ required: false, description: 'How many times the cost of the published version it may cost.' }),
    tokensMax: t.field({ type: 'Count', description: 'Tokens that its experiment may use.' }),
    scorers: t.field({
      type: [ScorerInputType],
      required: false,
      description: 'How answers are scored, at most 20. Default: CONTAINS, CITES, REFUSES and TOOL_CALLS.',
    }),
  }),
});

builder.mutationFields((t) => ({
  setAgentGate: t.field({
    authScopes: { key: 'AGENTS:WRITE' },
    type: AgentGateType,
    description:
      'Gives an agent whose drafts are published on request a gate, in place of the one before. Publishing then asks the published version and the draft, and is refused by what breaks a rule; its owner and administrators override that with a reason. For these.',
    args: { agentId: t.arg.id(agentId), input: t.arg({ type: SetAgentGateInput, description: 'The gate.' }) },
    resolve: (_root, args, { deps, caller }) => setAgentGate(deps, caller, args.agentId, args.input),
  }),
  removeAgentGate: t.field({
    authScopes: { key: 'AGENTS:WRITE' },
    type: AgentGateType,
    description: 'Takes the gate of an agent away. Answers what it was. For its owner and administrators.',
    args: { agentId: t.arg.id(agentId) },
    resolve: (_root, args, { deps, caller }) => removeAgentGate(deps, caller, args.agentId),
  }),
  checkAgentGate: t.field({
    authScopes: { key: 'AGENTS:WRITE' },
    type: ExperimentRef,
    description: 'Asks the draft what the gate of the agent asks, unless that was asked already: the experiment.',
    args: { agentId: t.arg.id(agentId) },
    resolve: (_root, args, { deps, caller }) => checkAgentGate(deps, caller, args.agentId),
  }),
}));
