import {
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isCompositeType,
  isObjectType,
} from 'graphql';
import type { TestClient } from '../../support/client.ts';
import type { Arguments } from './calls.ts';

type Field = GraphQLField<unknown, unknown>;
type Json = Readonly<Record<string, unknown>>;

const idsPerQuery = 20;
const pageSize = 20;
/** How deep a selection goes through values without an id of their own. Things with one are looked up by it. */
const depthMax = 9;
/** Things of one type that a walk looks up. */
const thingsPerType = 20;

export interface Refusal {
  /** `Query.tenants`, or `Agent.owner`. */
  readonly place: string;
  readonly code: string;
  readonly message: string;
}

export interface ShownThing {
  readonly typeName: string;
  /** The field that showed it first: `Chat.agent`. */
  readonly place: string;
}

/**
 * Walks the graph with a key: asks for everything that a type has, and goes on with the things that the reply names, by their ids. Each field has an
 * alias that says what it is of: `Chat__agent`.
 */
export class Walk {
  /** Fields that were answered without an error, as `Type.field`. */
  readonly answered = new Set<string>();
  /** Object types of which a value was shown. */
  readonly types = new Set<string>();
  /** The things that were shown, by id. */
  readonly things = new Map<string, ShownThing>();
  /** Things that a look-up by their id gave. */
  readonly found = new Set<string>();
  readonly refusals: Refusal[] = [];
  /** The place where each of the texts that the walk looks for was first shown. */
  readonly shownTexts = new Map<string, string>();
  readonly #schema: GraphQLSchema;
  readonly #who: TestClient;
  readonly #texts: readonly string[];
  readonly #followed = new Map<string, number>();
  readonly #lookedUp = new Set<string>();
  readonly #selections = new Map<string, string>();

  constructor(schema: GraphQLSchema, who: TestClient, texts: readonly string[]) {
    this.#schema = schema;
    this.#who = who;
    this.#texts = texts;
  }

  /** Asks a root field for everything. */
  async from(field: Field, given: Arguments = {}): Promise<void> {
    const { query, variables } = this.#document('query', field, given);
    await this.#ask(query, variables);
  }

  /** Follows a subscription to its end. */
  async follow(field: Field, given: Arguments): Promise<void> {
    const { query, variables } = this.#document('subscription', field, given);
    for await (const result of this.#who.subscribe(query, variables)) this.#take(result);
  }

  /** Looks up the things that were shown, and what they show, until nothing new comes. */
  async goOn(): Promise<void> {
    for (;;) {
      const next = [...this.things].filter(([id, { typeName }]) => this.#isNext(id, typeName));
      if (next.length === 0) return;
      await this.lookUp(new Map(next));
    }
  }

  /** Looks up things by their ids, whether they were shown or not. */
  async lookUp(things: ReadonlyMap<string, Pick<ShownThing, 'typeName'>>): Promise<void> {
    for (const [typeName, entries] of Map.groupBy(things, ([, thing]) => thing.typeName)) {
      const type = this.#schema.getType(typeName);
      if (!isObjectType(type)) throw new Error(`${typeName} is no object type`);
      const query = `query ($ids: [ID!]!) { Query__nodes: nodes(ids: $ids) { __typename ... on ${typeName} ${this.#members(type, [])} } }`;
      const ids = entries.map(([id]) => id).filter((id) => !this.#lookedUp.has(id));
      for (const id of ids) this.#lookedUp.add(id);
      for (let start = 0; start < ids.length; start += idsPerQuery) {
        const { Query__nodes: nodes } = await this.#ask(query, { ids: ids.slice(start, start + idsPerQuery) });
        for (const node of (nodes ?? []) as readonly (Json | null)[])
          if (node !== null) this.found.add(String(node[`${typeName}__id`]));
      }
    }
  }

  #isNext(id: string, typeName: string): boolean {
    if (this.#lookedUp.has(id)) return false;
    const count = this.#followed.get(typeName) ?? 0;
    this.#followed.set(typeName, count + 1);
    return count < thingsPerType;
  }

  #document(kind: 'query' | 'subscription', field: Field, given: Arguments) {
    const used = field.args.filter(({ name }) => given[name] !== undefined);
    const declared = used.map(({ name, type }) => `$${name}: ${type}`).join(', ');
    const passed = [...used.map(({ name }) => `${name}: $${name}`), ...pageOf(field)].join(', ');
    const named = `${field.name}${passed === '' ? '' : `(${passed})`}`;
    const root = kind === 'query' ? 'Query' : 'Subscription';
    const query = `${kind} ${declared === '' ? '' : `(${declared})`} { ${root}__${field.name}: ${named} ${this.#below(field, [])} }`;
    return { query, variables: Object.fromEntries(used.map(({ name }) => [name, given[name]])) };
  }

  async #ask(query: string, variables: Arguments): Promise<Json> {
    const { status, body } = await this.#who.post('/graphql', { query, variables });
    if (status !== 200) throw new Error(`${status} for ${query.slice(0, 200)}: ${JSON.stringify(body)}`);
    this.#take(body);
    return body.data ?? {};
  }

  #take(result: {
    readonly data?: unknown;
    readonly errors?: readonly { message: string; path?: unknown; extensions?: Json }[];
  }): void {
    const failed = new Set<string>();
    for (const { message, path, extensions } of result.errors ?? []) {
      const names = Array.isArray(path) ? path.filter((part) => typeof part === 'string') : [];
      const place = (names.at(-1) ?? 'document').replace('__', '.');
      failed.add(place);
      this.refusals.push({ place, code: String(extensions?.code), message });
    }
    this.#note(JSON.stringify(result));
    this.#absorb(result.data, 'Query', failed);
  }

  #note(reply: string): void {
    for (const text of this.#texts) {
      const at = this.shownTexts.has(text) ? -1 : reply.indexOf(text);
      if (at === -1) continue;
      const places = reply.slice(0, at).match(/"\w+__\w+":/g);
      this.shownTexts.set(text, places?.at(-1)?.slice(1, -2).replace('__', '.') ?? 'an error');
    }
  }

  #absorb(value: unknown, at: string, failed: ReadonlySet<string>): void {
    if (Array.isArray(value)) for (const item of value) this.#absorb(item, at, failed);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
    const { __typename: name, ...members } = value as Json;
    const typeName = typeof name === 'string' ? name : undefined;
    if (typeName !== undefined) this.types.add(typeName);
    const id = typeName === undefined ? undefined : (members[`${typeName}__id`] ?? members.id);
    if (typeName !== undefined && typeof id === 'string' && this.#isThing(typeName) && !this.things.has(id)) {
      this.things.set(id, { typeName, place: at });
    }
    for (const [alias, inner] of Object.entries(members)) {
      const place = alias.replace('__', '.');
      if (!failed.has(place)) this.answered.add(place);
      this.#absorb(inner, place, failed);
    }
  }

  /** Whether things of a type have an id of their own, and can be looked up by it. */
  #isThing(typeName: string): boolean {
    const type = this.#schema.getType(typeName);
    return isObjectType(type) && type.getInterfaces().some(({ name }) => name === 'Node');
  }

  /** What is asked of a value: of a thing its plain members, because it is looked up itself; of all else everything. */
  #below(field: Field, above: readonly string[]): string {
    const type = getNamedType(field.type);
    if (!isCompositeType(type)) return '';
    if (type.name === 'Node') return '{ __typename id }';
    const parts = this.#possible(type).map((one) => {
      const isLookedUp = this.#isThing(one.name) && above.length > 0;
      return `... on ${one.name} ${isLookedUp ? this.#plain(one) : this.#members(one, above)}`;
    });
    return `{ __typename ${parts.join(' ')} }`;
  }

  #possible(type: GraphQLCompositeType): readonly GraphQLObjectType[] {
    return isAbstractType(type) ? this.#schema.getPossibleTypes(type) : [type as GraphQLObjectType];
  }

  #plain(type: GraphQLObjectType): string {
    const known = this.#selections.get(type.name);
    if (known !== undefined) return known;
    const fields = Object.values(type.getFields()).filter((field) => !isCompositeType(getNamedType(field.type)));
    const made = `{ __typename ${fields.map(({ name }) => `${type.name}__${name}: ${name}`).join(' ')} }`;
    this.#selections.set(type.name, made);
    return made;
  }

  #members(type: GraphQLObjectType, above: readonly string[]): string {
    const path = [...above, type.name];
    const parts = Object.values(type.getFields()).flatMap((field) => {
      const inner = getNamedType(field.type);
      const isDeep = isCompositeType(inner) && !this.#isThing(inner.name);
      if (isDeep && (path.length > depthMax || path.includes(inner.name))) return [];
      const given = [...pageOf(field), ...(givenOf[`${type.name}.${field.name}`] ?? [])].join(', ');
      return [`${type.name}__${field.name}: ${field.name}${given === '' ? '' : `(${given})`} ${this.#below(field, path)}`];
    });
    return `{ __typename ${parts.join(' ')} }`;
  }
}

/** What fields of things cannot do without. */
const givenOf: Readonly<Record<string, readonly string[]>> = {
  'CitedDocument.passage': ['charStart: 0', 'charEnd: 10'],
};

function pageOf(field: Field): readonly string[] {
  return field.args.some(({ name }) => name === 'first') ? [`first: ${pageSize}`] : [];
}
