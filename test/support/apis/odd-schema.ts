import {
  GraphQLBoolean,
  GraphQLEnumType,
  type GraphQLFieldConfigMap,
  GraphQLFloat,
  GraphQLID,
  GraphQLInputObjectType,
  GraphQLInt,
  GraphQLInterfaceType,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  GraphQLScalarType,
  GraphQLSchema,
  GraphQLString,
  GraphQLUnionType,
  getNullableType,
  isLeafType,
  isListType,
  isNonNullType,
  responsePathAsArray,
} from 'graphql';

/** The context of `oddSchema`'s resolvers: a seed that decides the value of each place in a reply, and a log of resolver calls. */
export interface OddContext {
  readonly seed: number;
  /** Whether resolvers return promises. */
  readonly waits: boolean;
  readonly calls: string[];
}

const Kind = new GraphQLEnumType({ name: 'Kind', values: { ONE: { value: 1 }, TWO: { value: 2 } } });
/** Serializing fails for some of its values. */
const Picky = new GraphQLScalarType({
  name: 'Picky',
  serialize: (value) => {
    if (value === 'bad') throw new Error('Picky does not take it');
    return value === 'empty' ? undefined : { shown: value };
  },
});
const In = new GraphQLInputObjectType({
  name: 'In',
  fields: { text: { type: GraphQLString, defaultValue: 'none' }, numbers: { type: new GraphQLList(GraphQLInt) } },
});

const Base: GraphQLInterfaceType = new GraphQLInterfaceType({
  name: 'Base',
  fields: () => common(),
  resolveType: ({ type }, { waits }: OddContext, info) => (waits && info.fieldName === 'later' ? Promise.resolve(type) : type),
});
const A: GraphQLObjectType = new GraphQLObjectType({ name: 'A', interfaces: [Base], fields: () => common() });
const B: GraphQLObjectType = new GraphQLObjectType({
  name: 'B',
  interfaces: [Base],
  isTypeOf: ({ seed }: { seed: number }, { waits }: OddContext) => {
    const isOfType = seed % 11 !== 0;
    return waits && seed % 3 === 0 ? Promise.resolve(isOfType) : isOfType;
  },
  fields: () => common(),
});
const Both: GraphQLUnionType = new GraphQLUnionType({ name: 'Both', types: [A, B], resolveType: ({ type }) => type });

const fieldTypes = (): Readonly<Record<string, GraphQLOutputType>> => ({
  text: GraphQLString,
  mustText: new GraphQLNonNull(GraphQLString),
  id: new GraphQLNonNull(GraphQLID),
  number: new GraphQLNonNull(GraphQLInt),
  fraction: GraphQLFloat,
  flag: GraphQLBoolean,
  kind: Kind,
  picky: Picky,
  texts: new GraphQLList(new GraphQLNonNull(GraphQLString)),
  grid: new GraphQLNonNull(new GraphQLList(new GraphQLList(new GraphQLNonNull(GraphQLInt)))),
  child: Base,
  later: Base,
  mustChild: new GraphQLNonNull(A),
  both: Both,
  maybe: B,
  children: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(Base))),
  loose: new GraphQLList(Both),
});

function common(): GraphQLFieldConfigMap<unknown, OddContext> {
  const exposed = (source: unknown) => (source as { hidden: unknown }).hidden;
  return {
    ...Object.fromEntries(Object.entries(fieldTypes()).map(([name, type]) => [name, { type, resolve: behave }])),
    echo: {
      type: GraphQLString,
      args: { number: { type: GraphQLInt, defaultValue: 5 }, in: { type: In }, must: { type: new GraphQLNonNull(GraphQLInt) } },
      resolve: (_source, args, _context, info) => JSON.stringify([args, described(info)]),
    },
    // Without resolvers: properties, methods, and methods that throw.
    plain: { type: GraphQLString },
    mustPlain: { type: new GraphQLNonNull(GraphQLString) },
    method: { type: GraphQLString },
    thrower: { type: GraphQLString },
    exposed: {
      type: GraphQLString,
      resolve: exposed,
      extensions: { pothosExposedField: 'hidden', pothosOriginalResolve: exposed },
    },
  };
}

const root = (name: string) => new GraphQLObjectType({ name, interfaces: [Base], fields: () => common() });

/** Every kind of type and nullability that execution supports; the value of a field depends on the seed and its place only. */
export const oddSchema = new GraphQLSchema({
  query: root('Query'),
  mutation: root('Mutation'),
  subscription: root('Subscription'),
  types: [A, B],
});

export function sourceOf(seed: number, type = 'Query'): object {
  return new Source(seed, type);
}

class Source {
  readonly type: string;
  readonly seed: number;
  readonly plain: string | null;
  readonly mustPlain: string | undefined;
  readonly hidden: unknown;

  constructor(seed: number, type: string) {
    this.type = type;
    this.seed = seed;
    this.plain = odd(seed, 1) ? null : `plain ${seed}`;
    this.mustPlain = seed % 13 === 0 ? undefined : 'there';
    this.hidden = odd(seed, 2) ? null : 'hidden';
  }

  method(_args: unknown, { seed }: OddContext, info: GraphQLResolveInfo): string {
    return `${this.seed} ${seed} ${info.fieldName}`;
  }

  get thrower(): string {
    if (odd(this.seed, 3)) throw new Error('the member throws');
    return 'calm';
  }
}

function behave(_source: unknown, _args: unknown, { seed, waits, calls }: OddContext, info: GraphQLResolveInfo): unknown {
  const path = responsePathAsArray(info.path).join('.');
  calls.push(path);
  return answerOf(info.returnType, hash(`${seed} ${path}`), waits);
}

/** Usually a valid value; sometimes null, missing, an error, thrown, or a promise. */
function answerOf(type: GraphQLOutputType, seed: number, waits: boolean): unknown {
  const turn = seed % 24;
  const isLater = waits && turn >= 18;
  const value = () => settled(type, hash(`${seed}`), turn, waits);
  if (!isLater) return value();
  return lateOf(value);
}

async function lateOf(value: () => unknown): Promise<unknown> {
  return value();
}

function settled(type: GraphQLOutputType, seed: number, turn: number, waits: boolean): unknown {
  if (turn === 0) throw new Error(`thrown ${seed}`);
  if (turn === 1) return new Error(`returned ${seed}`);
  // Often null where null is allowed, rarely where it is not: otherwise no reply would have data.
  if (turn === 2 || turn === 18) return isNonNullType(type) && seed % 4 !== 0 ? sound(type, seed, waits) : null;
  if (turn === 3) return isNonNullType(type) && seed % 4 !== 0 ? sound(type, seed, waits) : undefined;
  if (turn === 4 && seed % 3 === 0) return unfit(type);
  if (turn === 19 && seed % 2 === 0) throw new Error(`rejected ${seed}`);
  return sound(type, seed, waits);
}

function unfit(type: GraphQLOutputType): unknown {
  const inner = getNullableType(type);
  if (isListType(inner)) return 'no list';
  return isLeafType(inner) ? { no: 'leaf' } : { type: 'Query', seed: 1 };
}

function sound(type: GraphQLOutputType, seed: number, waits: boolean): unknown {
  const inner = getNullableType(type);
  if (isListType(inner)) {
    // graphql-js leaves a rejection unhandled when a non-null item fails while others are pending: so all items are pending.
    const isLater = waits && (seed % 5 === 0 || (isNonNullType(inner.ofType) && !isLeafType(inner.ofType.ofType)));
    const items = Array.from({ length: seed % 4 }, (_, index) => {
      const item = () => settled(inner.ofType, hash(`${seed} ${index}`), hash(`${index} ${seed}`) % 18, waits);
      return isLater ? lateOf(item) : quiet(item);
    });
    return seed % 7 === 0 ? new Set(items) : items;
  }
  if (inner === GraphQLInt || inner === GraphQLFloat) return seed % 29 === 0 ? 2 ** 40 : seed % 100;
  if (inner === GraphQLBoolean) return seed % 2 === 0;
  if (inner === Kind) return 1 + (seed % 2);
  if (inner === Picky) return ['good', 'bad', 'empty', 0][seed % 4];
  if (isLeafType(inner)) return seed % 5 === 0 ? seed : `text ${seed}`;
  const name = inner === A ? 'A' : inner === B ? 'B' : seed % 2 === 0 ? 'A' : 'B';
  return sourceOf(seed, name);
}

/** An item that would throw becomes an error in its list. */
function quiet(item: () => unknown): unknown {
  try {
    return item();
  } catch (error) {
    return error;
  }
}

function described(info: GraphQLResolveInfo): unknown {
  return [
    info.fieldName,
    info.parentType.name,
    String(info.returnType),
    responsePathAsArray(info.path),
    info.path.typename,
    info.operation.operation,
    Object.keys(info.fragments),
    info.variableValues,
    info.fieldNodes.length,
  ];
}

function odd(seed: number, salt: number): boolean {
  return hash(`${seed} ${salt}`) % 5 === 0;
}

function hash(text: string): number {
  let value = 2_166_136_261;
  for (let index = 0; index < text.length; index += 1) value = Math.imul(value ^ text.charCodeAt(index), 16_777_619);
  value ^= value >>> 15;
  return Math.imul(value, 2_246_822_507) >>> 1;
}
