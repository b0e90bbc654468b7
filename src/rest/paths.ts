/** What stands at a path: by method. */
export interface Place<T> {
  readonly byMethod: ReadonlyMap<string, T>;
  /** The values of `{…}`, decoded, in order. */
  readonly values: readonly string[];
}

interface Node<T> {
  readonly children: Map<string, Node<T>>;
  any: Node<T> | undefined;
  readonly byMethod: Map<string, T>;
}

const noValues: readonly string[] = [];

/** Finds rows by path: whole when nothing in it varies, else segment by segment; a literal segment wins over `{…}`. */
export class PathTable<T> {
  readonly #fixed = new Map<string, Place<T>>();
  readonly #root: Node<T> = newNode();

  add(method: string, path: string, value: T): void {
    let node = this.#root;
    for (const segment of path.slice(1).split('/')) {
      if (segment.startsWith('{')) {
        node.any ??= newNode();
        node = node.any;
      } else {
        const child = node.children.get(segment) ?? newNode<T>();
        node.children.set(segment, child);
        node = child;
      }
    }
    node.byMethod.set(method, value);
    if (!path.includes('{')) this.#fixed.set(path, { byMethod: node.byMethod, values: noValues });
  }

  find(path: string): Place<T> | undefined {
    const fixed = this.#fixed.get(path);
    if (fixed !== undefined) return fixed;
    const segments = path.slice(1).split('/');
    if (segments.at(-1) === '') segments.pop();
    if (segments.length > 20) return undefined;
    const values: string[] = [];
    const node = descend(this.#root, segments, 0, values);
    return node === undefined ? undefined : { byMethod: node.byMethod, values };
  }
}

function newNode<T>(): Node<T> {
  return { children: new Map(), any: undefined, byMethod: new Map() };
}

function descend<T>(node: Node<T>, segments: readonly string[], index: number, values: string[]): Node<T> | undefined {
  const segment = segments[index];
  if (segment === undefined) return node.byMethod.size > 0 ? node : undefined;
  const child = node.children.get(segment);
  const found = child === undefined ? undefined : descend(child, segments, index + 1, values);
  if (found !== undefined || node.any === undefined) return found;
  const value = decodeSegment(segment);
  if (value === undefined || value === '') return undefined;
  values.push(value);
  const deeper = descend(node.any, segments, index + 1, values);
  if (deeper === undefined) values.pop();
  return deeper;
}

function decodeSegment(segment: string): string | undefined {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}
