import { Faults } from '../../domain/ground/faults.ts';
import type { UploadedFile } from '../../entities/conversations/chats/uploaded-file.ts';
import { isObject } from '../../lib/json/json.ts';
import type { FormField, Parameter, Route } from '../compile.ts';

/** The parts of a request that become variables. */
export interface RequestParts {
  /** Decoded, by name. */
  readonly path: Readonly<Record<string, string>>;
  /** Behind the `?`; '' when there is none. */
  readonly query: string;
  /** The parsed JSON; undefined when the route takes none. */
  readonly body: unknown;
  readonly upload?: { readonly file: UploadedFile; readonly fields: ReadonlyMap<string, string> };
  /** The sequence number of `Last-Event-ID`. */
  readonly resumeAfter?: number;
}

/**
 * Makes the variables of a route's document.
 *
 * @param toPlace  gets how a body of another format calls the places that the domain names.
 * @throws DomainError of the first fault, with all faults of path, query and body in `detail.faults`.
 */
export function readVariables(
  { row, readers }: Route,
  parts: RequestParts,
  toPlace: (place: (param: string) => string) => void = () => undefined,
): Record<string, unknown> {
  const faults = new Faults();
  const variables: Record<string, unknown> = {};
  for (const [name, value] of readers.defaults) variables[name] = value;
  for (const { name, read } of readers.path) variables[name] = read([parts.path[name] ?? ''], faults);
  if (readers.query.length > 0) readQuery(readers.query, parts.query, variables, faults);
  const reading = row.form?.read(parts.body, faults, parts.path);
  if (row.body !== undefined && reading !== undefined) {
    Object.assign(variables, reading.variables);
    variables[row.body] = reading.input;
    toPlace(reading.toPlace);
  }
  if (row.body !== undefined && row.form === undefined && readers.body !== undefined && parts.upload === undefined) {
    const body = readers.body(parts.body, faults);
    variables[row.body] = body;
    if (faults.found.length > 0 && isObject(body)) row.checkBody?.(withoutFaulty(body, faults), faults);
    if (isObject(parts.body)) Object.assign(variables, readers.replyMembers?.(parts.body, faults));
  }
  if (row.upload !== undefined && parts.upload !== undefined) {
    variables[row.upload.file] = parts.upload.file;
    const members = row.upload.orJson === true ? undefined : row.body;
    readForm(readers.form, parts.upload.fields, members, variables, faults);
  }
  if (parts.resumeAfter !== undefined) variables.lastFrame = parts.resumeAfter;
  faults.throwIfAny();
  return variables;
}

/** The members of a camelCase body in which nothing is wrong. */
function withoutFaulty(
  body: Readonly<Record<string, unknown>>,
  { found: foundFaults }: Faults,
): Readonly<Record<string, unknown>> {
  const faulty = new Set(foundFaults.map(({ param }) => /^[^.[]*/.exec(param)?.[0]));
  return Object.fromEntries(Object.entries(body).filter(([name]) => !faulty.has(name)));
}

function readQuery(parameters: readonly Parameter[], text: string, variables: Record<string, unknown>, faults: Faults): void {
  const query = new URLSearchParams(text);
  for (const parameter of parameters) {
    // Stock clients write a list as `include[]=…&include[]=…`.
    const listed = parameter.isList === true ? query.getAll(`${parameter.name}[]`) : [];
    const texts = [...query.getAll(parameter.name), ...listed];
    if (texts.length > 0) variables[parameter.name] = parameter.read(texts, faults);
    else if (parameter.isRequired) missing(parameter.name, faults);
  }
}

function readForm(
  fields: readonly FormField[],
  formFields: ReadonlyMap<string, string>,
  body: string | undefined,
  variables: Record<string, unknown>,
  faults: Faults,
): void {
  const members: Record<string, unknown> = {};
  for (const field of fields) {
    const target = field.isMember ? members : variables;
    const text = formFields.get(field.wire) ?? formFields.get(field.name);
    if (text !== undefined) target[field.name] = field.read([text], faults);
    else if (field.isRequired) missing(field.wire, faults);
  }
  if (body !== undefined) variables[body] = members;
}

function missing(name: string, faults: Faults): void {
  faults.path.push(name);
  faults.addHere('MISSING_REQUIRED_PARAMETER', (path) => `${path} is required`);
  faults.path.pop();
}

/** Whether the body asks for a reply without what the service adds to a common format. */
export function refusesExtensions({ streamOptions }: Readonly<Record<string, unknown>>): boolean {
  return (streamOptions as { readonly includeExtensions?: unknown } | null | undefined)?.includeExtensions === false;
}

/** The value of `stream` in the body. */
export function streamMember(body: unknown): unknown {
  return typeof body === 'object' && body !== null && Object.hasOwn(body, 'stream') && 'stream' in body ? body.stream : undefined;
}
