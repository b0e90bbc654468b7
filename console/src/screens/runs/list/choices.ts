import { usePage } from '../../../graphql/hooks.ts';
import { RunChoicesDocument } from '../documents.ts';

export interface Choice<Id extends string = string> {
  readonly id: Id;
  readonly name: string;
}

export interface RunChoices {
  readonly agents: readonly Choice[];
  readonly people: readonly Choice[];
  readonly keys: readonly Choice[];
  readonly models: readonly Choice[];
}

/** What runs can be narrowed to: the agents, people, keys and models of the last 30 days that ran most, and what the address names besides. */
export function useRunChoices(names: readonly (string | undefined)[] = []): RunChoices {
  const ids = names.filter((id) => id !== undefined);
  const { data } = usePage(RunChoicesDocument, { ids });
  const more = (data?.nodes ?? []).flatMap((node) => (node === null || !('name' in node) ? [] : [node]));
  const namedAs = (type: (typeof more)[number]['__typename']) => more.filter(({ __typename }) => __typename === type);
  return {
    agents: together(
      data?.agents.groups.flatMap(({ agent }) => agent ?? []),
      namedAs('Agent'),
    ),
    people: together(
      data?.people.groups.flatMap(({ user }) => user ?? []),
      namedAs('User'),
    ),
    keys: together(
      data?.keys.groups.flatMap(({ apiKey }) => apiKey ?? []),
      namedAs('ApiKey'),
    ),
    models: (data?.models.groups ?? []).flatMap(({ key }) => (key === null ? [] : [{ id: key, name: key }])),
  };
}

function together(first: readonly Choice[] = [], second: readonly Choice[]): readonly Choice[] {
  return [...new Map([...first, ...second].map((choice) => [choice.id, choice])).values()].sort((a, b) =>
    a.name.localeCompare(b.name),
  );
}
