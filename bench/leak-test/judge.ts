import { openDocuments } from './oracle.ts';
import { changeWorld, createRandom, createWorld, type Person, type Step, type World } from './world.ts';

/** A server that is judged. Each call acts with the key of one person. */
export interface JudgedServer {
  /** Says who is in groups, in place of who was. */
  putGroups(groups: readonly { readonly key: string; readonly members: readonly string[] }[]): Promise<void>;
  /** Adds or changes documents; `text` only of new ones. */
  putDocuments(
    documents: readonly {
      readonly id: string;
      readonly text?: string;
      readonly acl: readonly string[];
      readonly restrictions: readonly (readonly string[])[];
    }[],
    removed: readonly string[],
  ): Promise<void>;
  /** Returns when everything that was put is searched. */
  settle(): Promise<void>;
  /** The ways in which a person sees documents: each gives the ids of those that it shows. */
  readonly ways: Readonly<Record<string, (person: Person) => Promise<readonly string[]>>>;
  /**
   * Ways that show some documents only, such as an answer with its sources: of these, only what is shown and not open counts. They cost the most, so that
   * each person is asked by every second one of them at a moment, and by the others at the next.
   */
  readonly partialWays?: Readonly<Record<string, (person: Person) => Promise<readonly string[]>>>;
  /** Ways that show nobody a document, whoever may open it; in turns too. */
  readonly closedWays?: Readonly<Record<string, (person: Person) => Promise<readonly string[]>>>;
}

export interface Verdict {
  readonly seed: number;
  /** Person × document × moment × way. */
  readonly caseCount: number;
  /** Shown, and not open to the person. */
  readonly leaks: readonly string[];
  /** Open to the person, and not shown. */
  readonly missing: readonly string[];
  /** How many documents each way showed, to all persons together: a way that shows nothing finds no leak. */
  readonly shownCounts: ReadonlyMap<string, number>;
}

/** A word that each document has, so that one search could show them all. */
export const commonWord = 'ledger';

export function documentText(id: string): string {
  return `# ${id}\n\nThe ${commonWord} of ${id} names a sum and a day.`;
}

/** Compares what a server shows with what is open, at the beginning and after each of `stepCount` changes. */
export async function judge(
  server: JudgedServer,
  people: readonly Person[],
  { seed, stepCount }: { readonly seed: number; readonly stepCount: number },
): Promise<Verdict> {
  const random = createRandom(seed);
  const world = createWorld(people, random);
  // A group may be named before it is put by nobody: groups come first, the nested ones too.
  await server.putGroups([...world.groups.keys()].map((key) => ({ key, members: [] })));
  await put(
    server,
    world,
    { what: 'begin', groups: [...world.groups.keys()], documents: [...world.documents.keys()], removed: [] },
    true,
  );
  await server.settle();
  const verdict = { seed, caseCount: 0, leaks: [] as string[], missing: [] as string[], shownCounts: new Map<string, number>() };
  await compare(server, world, { turn: 0, what: 'begin' }, verdict);
  for (let step = 1; step <= stepCount; step += 1) {
    const change = changeWorld(world, random);
    await put(server, world, change, false);
    await compare(server, world, { turn: step, what: `${step}: ${change.what}` }, verdict);
  }
  return verdict;
}

async function put(server: JudgedServer, { groups, documents }: World, step: Step, isNew: boolean): Promise<void> {
  if (step.groups.length > 0) await server.putGroups(step.groups.map((key) => ({ key, members: groups.get(key) ?? [] })));
  const changed = step.documents.flatMap((id) => documents.get(id) ?? []);
  if (changed.length + step.removed.length === 0) return;
  await server.putDocuments(
    changed.map(({ id, acl, restrictions }) => ({ id, acl, restrictions, ...(isNew ? { text: documentText(id) } : {}) })),
    step.removed,
  );
}

async function compare(
  { ways, partialWays = {}, closedWays = {} }: JudgedServer,
  world: World,
  moment: { readonly turn: number; readonly what: string },
  verdict: { caseCount: number; leaks: string[]; missing: string[]; shownCounts: Map<string, number> },
): Promise<void> {
  for (const [place, person] of world.people.entries()) {
    const open = openDocuments(world, person);
    const inTurn = Object.entries({ ...partialWays, ...closedWays }).filter(
      (_way, index) => (index + place + moment.turn) % 2 === 0,
    );
    for (const [way, show] of [...Object.entries(ways), ...inTurn]) {
      const shown = new Set(await show(person));
      verdict.caseCount += world.documents.size;
      if (!(way in closedWays)) verdict.shownCounts.set(way, (verdict.shownCounts.get(way) ?? 0) + shown.size);
      const say = (id: string) => `${moment.what}: ${person.name} by ${way}: ${id}`;
      const mayShow = way in closedWays ? [] : open;
      verdict.leaks.push(...[...shown].filter((id) => !mayShow.includes(id)).map(say));
      if (way in ways) verdict.missing.push(...open.filter((id) => !shown.has(id)).map(say));
    }
  }
}
