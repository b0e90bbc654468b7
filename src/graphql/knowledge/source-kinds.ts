import type { ExpectedDraft } from '../../domain/agents/versions/change.ts';
import { addApiDataSource } from '../../domain/knowledge/add-sources.ts';
import { addConnectedSource, type ConnectedSourceInput } from '../../domain/knowledge/connected-sources.ts';
import type { SourceKind, SourceList } from '../../engine/knowledge/connectors/kind.ts';
import type { SourceMember } from '../../engine/knowledge/connectors/members.ts';
import { connectedKinds } from '../../engine/knowledge/connectors/registry.ts';
import type { DataSource } from '../../entities/knowledge/data-source.ts';
import { choiceName, inputName, sourceBodies } from '../../wire/data-sources.ts';
import { expectedDraftArg } from '../agents/versions/args.ts';
import { builder, type InputBuilder } from '../ground/builder/builder.ts';
import type { GraphContext } from '../ground/builder/context.ts';
import { type Conversion, flatInput } from '../ground/builder/flat-inputs.ts';
import { describedOnRest } from '../ground/builder/rest-words.ts';
import { DataSourceRef } from '../ground/refs.ts';
import { choiceType } from './settings.ts';
import { LinkSharingType, RecheckModeType, RefreshPeriodType, SourceAccessType } from './sources.ts';

/** What adds a source of a kind: its members by the names of the graph, and how often it is read again. */
function connectedInput(kind: SourceKind) {
  const { type, content, inputDescription = content, members, each } = kind;
  const itemType = each === undefined ? undefined : itemInput(each);
  const input = builder.inputType(inputName(kind), {
    description: inputDescription,
    fields: (t) => {
      const entries = Object.entries(members).flatMap(([name, member]) => {
        const { input: description, graphName = name } = member;
        return description === undefined ? [] : [[graphName, inputField(t, member, description)] as const];
      });
      const list =
        each === undefined || itemType === undefined
          ? []
          : [[each.name, t.field({ type: [itemType], description: each.description })] as const];
      return { ...Object.fromEntries([...entries, ...list]), refreshPeriod: periodField(t, kind), ...permissionFields(t, kind) };
    },
  });
  const graphNames = Object.entries(members).flatMap(([name, { graphName }]) =>
    graphName === undefined ? [] : [[graphName, name]],
  );
  const body = sourceBodies[type];
  return flatInput<ConnectedSourceInput>(input, {
    ...(body === undefined ? {} : { body }),
    members: { refreshPeriod: 'dataRefreshPeriod', ...Object.fromEntries(graphNames) },
  });
}

function itemInput({ type, typeDescription, items }: SourceList) {
  return builder.inputType(type, {
    description: typeDescription,
    fields: (t) => Object.fromEntries(Object.entries(items).map(([name, { description }]) => [name, t.string({ description })])),
  });
}

function inputField(t: InputBuilder, member: SourceMember, description: string) {
  const options = { required: member.isRequired === true, description };
  switch (member.form) {
    case 'text':
      return t.string(options);
    case 'texts':
      return t.stringList(options);
    case 'flag':
      return t.boolean(options);
    case 'number':
      return t.int(options);
    case 'choice':
      return t.field({ ...options, type: choiceType(member.values) });
    case 'choices':
      return t.field({ ...options, type: [choiceType(member.values)] });
    default:
      return t.id(options);
  }
}

function periodField(t: InputBuilder, { isPeriodRequired }: SourceKind) {
  return isPeriodRequired === true
    ? t.field({ type: RefreshPeriodType, description: 'How often it is refreshed automatically.' })
    : t.field({ type: RefreshPeriodType, required: false, description: 'How often it is read again by itself. Default NEVER.' });
}

const accessDescription = 'Whose rights decide what is found in it. Default LENT.';

/** How permissions decide what is found in it, where its service says them. */
function permissionFields(t: InputBuilder, { permissions }: SourceKind) {
  if (permissions === undefined) return {};
  return {
    access: t.field({ type: SourceAccessType, required: false, description: accessDescription }),
    linkShared: t.field({
      type: LinkSharingType,
      required: false,
      description: 'Of a MIRRORED source: whether what is open by link is found. Default HIDDEN.',
    }),
    recheck: t.field({
      type: RecheckModeType,
      required: false,
      description: 'Of a MIRRORED source: whether it is asked once more before a model gets passages. Default NEVER.',
    }),
  };
}

const AddApiDataSourceInput = builder.inputType('AddApiDataSourceInput', {
  description: "A new source with a payload of one's own.",
  fields: (t) => ({
    name: t.string({ description: '1 to 200 characters.' }),
    data: t.field({
      type: 'JSON',
      description: "The knowledge: an object. JSON: it is the caller's own, of any form.",
      extensions: describedOnRest('The knowledge: any object.'),
    }),
    access: t.field({
      type: SourceAccessType,
      required: false,
      description: `${accessDescription} MIRRORED: documents are pushed with those who may open them; nobody may open the payload.`,
    }),
  }),
});

/** The choice keeps its member; places of faults begin within it. */
function chosen(name: string): Conversion {
  return { flatten: (value) => ({ [name]: value }), place: (place) => place };
}

/** Exactly one of them. */
type AddDataSourceChoice = { readonly api?: Parameters<typeof addApiDataSource>[3] } & {
  readonly [choice: string]: ConnectedSourceInput;
};

const connectedInputs = connectedKinds.map((kind) => [kind, connectedInput(kind)] as const);

const AddDataSourceInput = flatInput<AddDataSourceChoice>(
  builder.inputType('AddDataSourceInput', {
    isOneOf: true,
    description: 'What is added: exactly one of these.',
    fields: (t) => ({
      api: t.field({ type: AddApiDataSourceInput, required: false, description: 'A JSON payload.' }),
      ...Object.fromEntries(
        connectedInputs.map(([kind, type]) => {
          const description = kind.choiceDescription ?? kind.content;
          return [choiceName(kind), t.field({ type, required: false, description })];
        }),
      ),
    }),
  }),
  { choices: Object.fromEntries(['api', ...connectedKinds.map(choiceName)].map((name) => [name, chosen(name)])) },
);

interface AddedSources {
  readonly first: DataSource;
  readonly all: readonly DataSource[];
}

const AddDataSourcePayload = builder.objectRef<AddedSources>('AddDataSourcePayload').implement({
  access: { scope: 'DATA_SOURCES:READ' },
  description: 'What was added.',
  fields: (t) => ({
    dataSource: t.field({
      type: DataSourceRef,
      description: 'The new source; of several, the first.',
      resolve: ({ first }) => first,
    }),
    dataSources: t.field({
      type: [DataSourceRef],
      description: 'All of them, at most 100: one for each file of a drive of the first kind.',
      resolve: ({ all }) => [...all],
    }),
  }),
});

builder.mutationField('addDataSource', (t) =>
  t.field({
    authScopes: { key: 'DATA_SOURCES:WRITE' },
    type: AddDataSourcePayload,
    description: 'Adds knowledge to an agent, and has it read. An uploaded file is added by `addFileDataSource`.',
    args: {
      agentId: t.arg.id({ description: 'The id of the agent.' }),
      input: t.arg({ type: AddDataSourceInput, description: 'What is added.' }),
      expectedDraft: expectedDraftArg(t.arg),
    },
    resolve: async (_root, { agentId, input, expectedDraft }, context) => {
      const all = await addSources(context, agentId, input, expectedDraft);
      const [first] = all;
      if (first === undefined) throw new Error('a source that was just made is missing');
      return { first, all };
    },
  }),
);

async function addSources(
  { deps, caller }: GraphContext,
  agentId: string,
  choice: AddDataSourceChoice,
  expectedDraft: ExpectedDraft,
): Promise<readonly DataSource[]> {
  if (choice.api !== undefined) return [await addApiDataSource(deps, caller, agentId, choice.api, expectedDraft)];
  for (const kind of connectedKinds) {
    const input = choice[choiceName(kind)];
    if (input !== undefined) return addConnectedSource(deps, caller, agentId, kind, input, expectedDraft);
  }
  throw new Error('a choice without a member');
}
