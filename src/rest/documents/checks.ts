import {
  type FieldNode,
  getNamedType,
  getNullableType,
  isInputObjectType,
  isListType,
  isObjectType,
  Kind,
  type SelectionSetNode,
} from 'graphql';
import type { Declarations } from '../openapi/declarations.ts';
import type { DeclaredRoute } from '../route.ts';
import { isFileType, type RowDocument, repliedPart } from './document.ts';

export function checkShape(row: DeclaredRoute, pathNames: readonly string[]): void {
  if (!/^\/api\/v\d+(\/([a-z0-9_-]+|\{[a-z][A-Za-z0-9]*\}))+$/.test(row.path))
    throw new Error(`the path ${row.path} is none of a REST route`);
  if (new Set(pathNames).size !== pathNames.length) throw new Error('a name stands twice in the path');
  if (row.summary.trim() === '' || row.tag.trim() === '') throw new Error('summary and tag must not be blank');
  if (row.method === 'get' && (row.body !== undefined || row.upload !== undefined)) throw new Error('a GET takes no body');
  if (row.status !== undefined && (row.status < 200 || row.status > 299)) throw new Error('status must be one of success');
  if (row.page !== undefined && row.wrap !== 'data') throw new Error('page needs wrap: data');
  if (row.ticket !== undefined && !(row.ticket in (row.query ?? {}))) throw new Error('the ticket must stand in the query');
  if (row.upload?.orJson === true && row.body === undefined) throw new Error('orJson needs a body');
  if (row.upload?.isRaw === true && row.body !== undefined) throw new Error('a body is either a file or JSON');
}

/** Every name of the path and the query is a variable, and every variable gets a value. */
export function checkVariables(row: DeclaredRoute, main: RowDocument, pathNames: readonly string[]): void {
  const argumentsByVariable = new Map<string, string>();
  const feed = (name: string, from: string) => {
    requireVariable(main, name, from);
    const before = argumentsByVariable.get(name);
    if (before !== undefined) throw new Error(`$${name} is fed by ${before} and by ${from}`);
    argumentsByVariable.set(name, from);
  };
  const isTerm = (name: string) => row.terms?.[name] !== undefined;
  for (const name of pathNames) if (!isTerm(name)) feed(name, 'the path');
  for (const name of Object.keys(row.query ?? {})) if (!isTerm(name)) feed(name, 'the query');
  for (const name of Object.keys(row.terms ?? {}))
    if (main.variables.has(name)) throw new Error(`${name} is a term, and a variable of the document`);
  if (row.body !== undefined) {
    feed(row.body, 'the body');
    if (!isInputObjectType(getNamedType(main.variables.get(row.body)?.type)))
      throw new Error(`$${row.body} must be an input object`);
  }
  if (row.upload !== undefined) {
    feed(row.upload.file, 'the upload');
    const type = main.variables.get(row.upload.file)?.type;
    if (type === undefined || !isFileType(type)) throw new Error(`$${row.upload.file} must be a File`);
  }
  for (const variable of main.variables.values()) {
    const isFormField = row.upload !== undefined && row.upload.isRaw !== true && row.body === undefined;
    if (argumentsByVariable.has(variable.name) || isFormField) continue;
    throw new Error(`nothing feeds $${variable.name}`);
  }
}

function requireVariable(main: RowDocument, name: string, from: string): void {
  if (!main.variables.has(name)) throw new Error(`${from} names ${name}, which is no variable of the document`);
}

export function checkSchemas({ reply, stream, socket, form }: DeclaredRoute, { schemas }: Declarations): void {
  for (const name of [reply?.schema, stream?.event, socket?.request, socket?.event, form?.schema]) {
    if (name !== undefined && !Object.hasOwn(schemas, name)) throw new Error(`no schema ${name} is declared`);
  }
}

/** The members that make the reply must be selected. */
export function checkReply(row: DeclaredRoute, main: RowDocument): void {
  const part = repliedPart(row, main);
  const type = getNullableType(part.type);
  checkRun(row, main);
  const selectedNames = selectedKeys(part.selectionSet);
  if (row.wrap === 'data' && !isListType(type) && !(isObjectType(type) && selectedNames.has('nodes'))) {
    throw new Error('wrap: data needs a list, or a connection that selects nodes');
  }
  if (row.page !== undefined && row.page !== 'total' && !selectedNames.has('pageInfo'))
    throw new Error(`page: ${row.page} needs pageInfo`);
  if (row.page === 'total' && !selectedNames.has('totalCount')) throw new Error('page: total needs totalCount');
  const everywhere = allKeys(main.rootNode.selectionSet);
  for (const name of row.omitNull ?? [])
    if (!everywhere.has(name)) throw new Error(`${name} is left out when null, and not selected`);
  for (const name of Object.keys(row.blankNull ?? {}).map(memberName))
    if (!everywhere.has(name)) throw new Error(`${name} is empty when null, and not selected`);
  for (const name of Object.keys(row.shapes ?? {}).map(memberName))
    if (!everywhere.has(name)) throw new Error(`${name} has a shape, and is not selected`);
  for (const name of Object.keys(row.lists ?? {})) {
    const connections = nodesNamed(main.rootNode.selectionSet, name);
    if (connections.length === 0 || connections.some((node) => !selectedKeys(node.selectionSet).has('nodes')))
      throw new Error(`${name} is a list of nodes, and does not select them`);
  }
}

/** `name` of `Chat.name`. */
export function memberName(place: string): string {
  return place.slice(place.lastIndexOf('.') + 1);
}

/** Every document is run: by graphql-js, or by the encoder of its reply, which needs events of a subscription and a value of another field. */
function checkRun({ reply, stream }: DeclaredRoute, { operation: { operation } }: RowDocument): void {
  const isRead = reply?.fold !== undefined || stream?.when === 'always';
  if (operation === 'subscription' && !isRead)
    throw new Error('nothing reads the events of the document: its reply needs a fold');
  if (operation !== 'subscription' && stream?.when === 'always')
    throw new Error('the document is never run: it is no subscription');
  if (operation !== 'subscription' && reply !== undefined && reply.encode === undefined)
    throw new Error('the encoder of the reply takes events only, and the document is no subscription');
}

function selectedKeys(set: SelectionSetNode | undefined): Set<string> {
  return new Set((set?.selections ?? []).flatMap((node) => (node.kind === Kind.FIELD ? [findKey(node)] : [])));
}

function allKeys(set: SelectionSetNode | undefined): Set<string> {
  const keys = selectedKeys(set);
  for (const node of set?.selections ?? []) {
    if (node.kind !== Kind.FRAGMENT_SPREAD) for (const key of allKeys(node.selectionSet)) keys.add(key);
  }
  return keys;
}

function nodesNamed(set: SelectionSetNode | undefined, key: string): FieldNode[] {
  return (set?.selections ?? []).flatMap((node) => {
    if (node.kind === Kind.FRAGMENT_SPREAD) return [];
    const within = nodesNamed(node.selectionSet, key);
    return node.kind === Kind.FIELD && findKey(node) === key ? [node, ...within] : within;
  });
}

function findKey(node: FieldNode): string {
  return node.alias?.value ?? node.name.value;
}
