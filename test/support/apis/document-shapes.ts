/** A GraphQL request that is expensive when a walk over its document is not bounded. */
export interface DocumentShape {
  readonly query: string;
  /** As JSON text: some are too deep to be made from a value. */
  readonly variables?: string;
  /** A pattern of the error code; `runs` for a request that is answered. */
  readonly ends: string;
}

const times = (count: number, part: (index: number) => string) => Array.from({ length: count }, (_, i) => part(i)).join(' ');

/** Fragments that each spread the next one several times: unfolded, they make `spreads ** depth` fields. */
function nested(depth: number, spreads: number, type: string, field: string): string {
  const spread = (index: number) => (index < depth - 1 ? times(spreads, () => `...F${index + 1}`) : '');
  return times(depth, (index) => `fragment F${index} on ${type} { ${field} ${spread(index)} }`);
}

/** Like `nested` with a field between the fragments, so that they cannot be merged into one place. */
function nestedBelow(depth: number, names: readonly string[]): string {
  const next = (index: number) => (index < depth - 1 ? `...G${index + 1}` : 'name');
  const level = (index: number) => names.map((name) => `${name}: ofType { ${next(index)} }`).join(' ');
  return times(depth, (index) => `fragment G${index} on __Type { ${level(index)} }`);
}

const agents = (fields: string) => `{ agents(first: 1) { nodes { ${fields} } } }`;
const viewer = (fields: string) => `{ viewer { ${fields} } }`;
const runs = 'runs';
const tooMany = 'GRAPHQL_TOO_MANY_';
const tooManyFields = `${tooMany}FIELDS`;
/** The rule of graphql-js for fields that merge ends validation when its work is too much. */
const tooMuchToMerge = 'GRAPHQL_VALIDATION_FAILED|GRAPHQL_TOO_';

export const documentShapes: Readonly<Record<string, DocumentShape>> = {
  'fragments 16 deep, spread three times': { query: `${agents('...F0')} ${nested(16, 3, 'Agent', 'id')}`, ends: tooManyFields },
  'fragments 60 deep, spread 30 times': { query: `${agents('...F0')} ${nested(60, 30, 'Agent', 'id')}`, ends: tooManyFields },
  'fragments 60 deep on an interface': {
    query: `{ node(id: "ai_1") { ...F0 } } ${nested(60, 30, 'Node', 'id')}`,
    ends: tooManyFields,
  },
  'fragments 16 deep that list data sources': {
    query: `${agents('...F0')} ${nested(16, 3, 'Agent', 'sources { nodes { id name } }')}`,
    ends: tooManyFields,
  },
  'fragments 16 deep in introspection': {
    query: `{ __schema { types { ...F0 } } } ${nested(16, 3, '__Type', 'name')}`,
    ends: `runs|${tooMuchToMerge}`,
  },
  'fragments that double the levels below them': {
    query: `{ __schema { queryType { ...G0 } } } ${nestedBelow(16, ['a', 'b', 'c'])}`,
    ends: 'GRAPHQL_TOO_',
  },
  'fragments in circles': {
    query: `${agents('...F0')} ${times(90, (i) => `fragment F${i} on Agent { id ${times(9, (j) => `...F${(i + j + 1) % 90}`)} }`)}`,
    ends: `GRAPHQL_TOO_DEEP|GRAPHQL_VALIDATION_FAILED|${tooManyFields}`,
  },
  'fragments that all merge': {
    query: `${agents(times(90, (i) => `...F${i}`))} ${times(90, (i) => `fragment F${i} on Agent { groups { members { totalCount } ${times(3, () => 'members { ...G }')} } }`)} fragment G on GroupMemberConnection { totalCount }`,
    ends: tooMuchToMerge,
  },
  'one fragment of many fields in many places': {
    query: `${agents(times(45, (i) => `a${i}: groups { ...L }`))} fragment L on Group { ${times(900, () => 'id')} }`,
    ends: tooMuchToMerge,
  },
  '990 equal fields with a selection': { query: viewer(times(990, () => 'user { id }')), ends: tooMuchToMerge },
  '60 equal fields of 60 equal fields': {
    query: viewer(times(60, () => `user { ${times(60, () => 'id')} }`)),
    ends: `runs|${tooMuchToMerge}`,
  },
  '3,900 equal leaves': { query: viewer(`user { ${times(3_900, () => 'id')} }`), ends: `runs|${tooMuchToMerge}` },
  'equal fields with other arguments': {
    query: `{ ${times(400, (i) => `node(id: "${i}") { id }`)} }`,
    ends: 'GRAPHQL_VALIDATION_FAILED',
  },
  'inline fragments in inline fragments': {
    query: agents(`${'... on Agent { '.repeat(150)} id ${'} '.repeat(150)}`),
    ends: runs,
  },
  'inline fragments side by side': { query: agents(times(600, () => '... on Agent { id }')), ends: `runs|${tooMuchToMerge}` },
  'thousands of aliases': { query: viewer(times(600, (i) => `a${i}: user { id }`)), ends: `${tooMany}ALIASES` },
  'hundreds of directives': {
    query: viewer(`user { ${times(300, () => 'id @include(if: true)')} }`),
    ends: `${tooMany}DIRECTIVES`,
  },
  'hundreds of operations': {
    query: `${times(300, (i) => `query Q${i} { ...F }`)} fragment F on Query { viewer { user { id } } }`,
    ends: `${tooMany}OPERATIONS|OPERATION_RESOLUTION_FAILURE`,
  },
  'hundreds of fragments': {
    query: `${viewer('user { id }')} ${times(300, (i) => `fragment F${i} on Query { viewer { user { id } } }`)}`,
    ends: `${tooMany}FRAGMENTS`,
  },
  'subscriptions of many roots': {
    query: `${times(50, (i) => `subscription S${i} { ...F }`)} fragment F on Subscription { ${times(200, () => 'runsChanged { id } usageChanged { day }')} }`,
    ends: 'GRAPHQL_VALIDATION_FAILED|OPERATION_RESOLUTION_FAILURE',
  },
  'unused variables': {
    query: `query (${times(900, (i) => `$v${i}: Int`)}) { viewer { user { id } } }`,
    ends: 'GRAPHQL_VALIDATION_FAILED',
  },
  'a variable declared 900 times': {
    query: `query (${times(900, () => '$v: Int')}) { viewer { user { id } } }`,
    ends: 'GRAPHQL_VALIDATION_FAILED',
  },
  'lists in lists of an argument': {
    query: `{ node(id: ${'['.repeat(180)}${']'.repeat(180)}) { id } }`,
    ends: 'GRAPHQL_VALIDATION_FAILED',
  },
  'brackets without end': { query: `{ node(id: ${'['.repeat(3_000)}) { id } }`, ends: 'GRAPHQL_TOO_DEEP' },
  'a long string': { query: `{ node(id: "${'x'.repeat(250_000)}") { id } }`, ends: runs },
  'a string beyond the limit': { query: `{ node(id: "${'x'.repeat(2_000_000)}") { id } }`, ends: 'GRAPHQL_DOCUMENT_TOO_LONG' },
  'a block string of many lines': { query: `{ node(id: """${'x\n'.repeat(120_000)}""") { id } }`, ends: runs },
  'two million comments': { query: `${'#\n'.repeat(2_000_000)}{ nope }`, ends: 'GRAPHQL_DOCUMENT_TOO_LONG' },
  'errors behind many lines': {
    query: `${'\n'.repeat(240_000)}{ ${times(20, (i) => `nope${i}`)} }`,
    ends: 'GRAPHQL_VALIDATION_FAILED',
  },
  'a syntax error behind many lines': { query: `${'\n'.repeat(240_000)}{`, ends: 'GRAPHQL_PARSE_FAILED' },
  'errors behind four million lines': { query: `${'\n'.repeat(4_000_000)}{ nope }`, ends: 'GRAPHQL_DOCUMENT_TOO_LONG' },
  'the whole schema twenty times': {
    query: `{ ${times(20, (i) => `a${i}: __schema { types { name fields { name args { name } type { name ofType { name } } } } }`)} }`,
    ends: 'GRAPHQL_TOO_COSTLY',
  },
  'types of fields of types': {
    query: `{ __schema { types { ${times(7, (i) => `a${i}: fields { type { ${times(6, (j) => `b${j}: fields { name type { name } }`)} } }`)} } } }`,
    ends: 'GRAPHQL_TOO_COSTLY',
  },
  'unknown members of a variable': {
    query: 'mutation ($input: CreateGroupInput!) { createGroup(input: $input) { id } }',
    variables: `{ "input": { ${Array.from({ length: 250_000 }, (_, i) => `"unknown${i}": 0`).join()} } }`,
    ends: 'MISSING_REQUIRED_PARAMETER',
  },
  'long values of the wrong type': {
    query: 'query ($first: Int, $id: ID!) { agents(first: $first) { totalCount } node(id: $id) { id } }',
    variables: JSON.stringify({ first: 'x'.repeat(3_000_000), id: Array.from({ length: 200_000 }, () => 'x') }),
    ends: 'INVALID_TYPE',
  },
  'a variable of many levels': {
    query: 'mutation ($input: CreateGroupInput!) { createGroup(input: $input) { id } }',
    variables: `{ "input": { "name": ${'['.repeat(1_000_000)}${']'.repeat(1_000_000)} } }`,
    ends: 'MISSING_REQUIRED_PARAMETER',
  },
};
