type Schema = Readonly<Record<string, unknown>>;

/** What a local reference (`#`, `#/$defs/name`) names in a schema; undefined for others, and for nothing. */
export function resolveReference(root: unknown, reference: string): unknown {
  if (!/^#(\/|$)/.test(reference)) return undefined;
  let target: unknown = root;
  for (const part of reference.split('/').slice(1)) {
    const name = decoded(part).replaceAll('~1', '/').replaceAll('~0', '~');
    const isNode = typeof target === 'object' && target !== null;
    target = isNode && Object.hasOwn(target as object, name) ? (target as Schema)[name] : undefined;
  }
  return target;
}

const literals = ['enum', 'const', 'default', 'examples', 'example'];

/** The place of the first reference in a schema that names nothing in it, like `.properties.a.$ref`. Cost: one walk. */
export function findDanglingReference(root: Schema): string | undefined {
  const open: { readonly node: unknown; readonly path: string; readonly isMap: boolean }[] = [
    { node: root, path: '', isMap: false },
  ];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { node, path, isMap } = next;
    if (typeof node !== 'object' || node === null) continue;
    const { $ref } = node as Schema;
    if (!isMap && typeof $ref === 'string' && resolveReference(root, $ref) === undefined) return `${path}.$ref`;
    for (const [name, inner] of Object.entries(node)) {
      if (!isMap && literals.includes(name)) continue;
      // Names in these are names of members, not keywords.
      open.push({ node: inner, path: `${path}.${name}`.slice(0, pathLengthMax), isMap: !isMap && maps.includes(name) });
    }
  }
  return undefined;
}

const maps = ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas', 'dependentRequired'];
const pathLengthMax = 500;

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
