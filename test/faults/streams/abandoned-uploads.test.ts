import { randomUUID } from 'node:crypto';
import { readdirSync, readlinkSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type GraphQLInputType, getNamedType, isInputObjectType } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildSchema } from '../../../src/graphql/schema.ts';
import { allRoutes } from '../../../src/rest/routes/index.ts';
import { RawClient, type RawRequest, statusOf } from '../../support/apis/raw-request.ts';
import { eventually } from '../../support/processes/eventually.ts';
import { LiveTimers } from '../../support/processes/live-timers.ts';
import { startService, type TestService } from '../../support/service.ts';

const leavingCount = 8;
const boundary = 'parley-test-boundary';
/** More than the service keeps in memory, so it writes a temporary file. */
const mebibyte = Buffer.alloc(1024 * 1024, 'x');

let service: TestService;
/** A service that disconnects silent clients soon. */
let impatient: TestService;
let timers: LiveTimers;
const lines: string[] = [];
/** The folder of this process's temporary files. */
let folder: string;
const usualFolder = process.env.TMPDIR;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parley-test-'));
  process.env.TMPDIR = folder;
  timers = new LiveTimers(['/src/http/', '/src/graphql/server']);
  service = await startService({ env: { LOG_LEVEL: 'info' }, onLog: (line) => lines.push(line) });
  impatient = await startService({ env: { BODY_IDLE_TIMEOUT_MS: '300' } });
});
afterAll(async () => {
  await Promise.all([service.close(), impatient.close()]);
  timers.close();
  if (usualFolder === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = usualFolder;
  await rm(folder, { recursive: true });
});

interface UploadOperation {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  /** The member of the form that holds the file. */
  readonly member: string;
  /** How the file is sent. */
  readonly form: 'raw' | 'multipart' | 'graphql';
}

/** Every operation that accepts a file, on both APIs. */
function uploadOperations(): UploadOperation[] {
  const rest = allRoutes.flatMap(({ operationId, method, path, upload }): UploadOperation[] => {
    if (upload === undefined) return [];
    const form = upload.isRaw === true ? 'raw' : 'multipart';
    return [
      {
        name: `REST ${operationId}`,
        method: method.toUpperCase(),
        path: path.replace(/\{\w+\}/g, 'x'),
        member: upload.isRaw === true ? '' : upload.file,
        form,
      },
    ];
  });
  const mutations = Object.values(buildSchema().getMutationType()?.getFields() ?? {});
  const graphql = mutations
    .filter(({ args }) => args.some(({ type }) => takesFile(type)))
    .map(({ name }) => ({ name: `GraphQL ${name}`, method: 'POST', path: '/graphql', member: 'file', form: 'graphql' as const }));
  return [...rest, ...graphql];
}

function takesFile(type: GraphQLInputType, seen: readonly unknown[] = []): boolean {
  const named = getNamedType(type);
  if (named.name === 'File') return true;
  if (!isInputObjectType(named) || seen.includes(named)) return false;
  return Object.values(named.getFields()).some((field) => takesFile(field.type, [...seen, named]));
}

const part = (header: string, content: Buffer | string) =>
  Buffer.concat([
    Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; ${header}\r\n\r\n`),
    Buffer.from(content),
    Buffer.from('\r\n'),
  ]);
const field = (name: string, content: string) => part(`name="${name}"`, content);
const file = (name: string, content = mebibyte) => part(`name="${name}"; filename="a.bin"`, content);
const end = Buffer.from(`--${boundary}--\r\n`);

/** The form up to its file; a GraphQL form begins with the operation. */
function formHead({ form, name }: UploadOperation): Buffer {
  if (form !== 'graphql') return Buffer.alloc(0);
  const query = `mutation ($file: File!) { ${name.split(' ')[1]}(file: $file) { id } }`;
  return Buffer.concat([
    field('operations', JSON.stringify({ query, variables: { file: null } })),
    field('map', JSON.stringify({ file: ['variables.file'] })),
  ]);
}

function request(operation: UploadOperation, body: Buffer, missingBytes = 0): RawRequest {
  const { method, path, form } = operation;
  const contentType = form === 'raw' ? 'application/octet-stream' : `multipart/form-data; boundary=${boundary}`;
  return {
    method,
    path,
    headers: {
      authorization: `Bearer ${service.adminKey}`,
      'content-type': contentType,
      'x-requested-with': 'test',
    },
    body,
    declaredBytes: body.length + missingBytes,
  };
}

/** Begins an upload that stops after its first mebibyte. */
function begin({ url }: TestService, operation: UploadOperation, requestId = 'test'): RawClient {
  const client = new RawClient(url);
  const start =
    operation.form === 'raw' ? mebibyte : Buffer.concat([formHead(operation), file(operation.member).subarray(0, -2)]);
  const { headers, ...sent } = request(operation, start, 1_000_000);
  client.send({ ...sent, headers: { ...headers, 'x-request-id': requestId } });
  return client;
}

/** The lines of the access log for requests with this id. */
function repliesTo(requestId: string): { readonly status: number; readonly aborted?: string }[] {
  const logged = lines
    .join('')
    .split('\n')
    .filter((line) => line.includes(requestId) && line.includes('"msg":"reply"'));
  return logged.map((line) => JSON.parse(line));
}

/** The number of open temporary files of uploads; they have no names any more. */
function openFiles(): number {
  return readdirSync('/proc/self/fd').filter((descriptor) => {
    try {
      return readlinkSync(`/proc/self/fd/${descriptor}`).includes('parley-upload-');
    } catch {
      return false;
    }
  }).length;
}

async function nothingStays(timersBefore: number): Promise<void> {
  await eventually(() => expect(openFiles()).toBe(0), 10_000);
  expect((await readdir(folder)).filter((name) => name.startsWith('parley-upload-'))).toEqual([]);
  await eventually(() => expect(timers.count).toBeLessThanOrEqual(timersBefore), 15_000);
}

async function answerTo(operation: UploadOperation, body: Buffer): Promise<string> {
  const client = new RawClient(service.url);
  const reply = client.reply();
  client.send(request(operation, body));
  const text = await reply;
  client.leave();
  return text;
}

const operations = uploadOperations();

it('the table holds operations of every form', () => {
  expect(new Set(operations.map(({ form }) => form))).toEqual(new Set(['raw', 'multipart', 'graphql']));
  expect(operations.length).toBeGreaterThanOrEqual(9);
});

describe.each(operations.map((operation) => [operation.name, operation] as const))('%s', (_name, operation) => {
  it(`${leavingCount} clients that leave in mid-file leave no file, descriptor or timer, and the log says they left`, async () => {
    const timersBefore = timers.count;
    const requestId = randomUUID();
    const clients = Array.from({ length: leavingCount }, () => begin(service, operation, requestId));
    await eventually(() => expect(openFiles()).toBe(leavingCount));
    for (const client of clients) client.leave();
    await nothingStays(timersBefore);
    await eventually(() => {
      const replies = repliesTo(requestId);
      expect(replies.map(({ status, aborted }) => [status, aborted])).toEqual(replies.map(() => [499, 'client']));
      expect(replies).toHaveLength(leavingCount);
    });
  });

  it('clients that fall silent in mid-file are answered in time, and closed', async () => {
    const timersBefore = timers.count;
    const inFile = Array.from({ length: 3 }, () => begin(impatient, operation));
    const behindHead = new RawClient(impatient.url);
    behindHead.send(request(operation, Buffer.alloc(0), 1_000));
    for (const reply of await Promise.all([...inFile, behindHead].map((client) => client.rest()))) {
      expect(statusOf(reply)).toBe(408);
      expect(reply.toLowerCase()).toContain('request_timeout');
      expect(reply.toLowerCase()).toContain('connection: close');
    }
    await nothingStays(timersBefore);
  });
});

const forms = operations.filter(({ form }) => form !== 'raw');
const many = (count: number, make: (index: number) => Buffer) =>
  Buffer.concat(Array.from({ length: count }, (_, index) => make(index)));
const faults: readonly (readonly [string, () => Buffer])[] = [
  [
    'garbage behind a valid part',
    () => Buffer.concat([file('file'), Buffer.from(`--${boundary}garbage\r\n\r\n`), Buffer.alloc(5_000, 0xff)]),
  ],
  ['a form that ends in mid-file', () => file('file').subarray(0, -100)],
  [
    'a part without a name',
    () => Buffer.concat([file('file'), Buffer.from(`--${boundary}\r\nx: y\r\n\r\nz\r\n`), file('other'), end]),
  ],
  ['a header without end', () => Buffer.concat([file('file'), Buffer.from(`--${boundary}\r\n${'x'.repeat(200_000)}`)])],
  ['too many files', () => Buffer.concat([many(12, (index) => file(`file${index || ''}`)), end])],
  ['too many fields', () => Buffer.concat([file('file'), many(60, (index) => field(`f${index}`, 'x')), end])],
  ['a field that is too long', () => Buffer.concat([file('file'), field('long', 'x'.repeat(9 * 1024 * 1024)), end])],
  [
    'fields that are too long together',
    () => Buffer.concat([file('file'), many(3, (index) => field(`f${index}`, 'x'.repeat(3 * 1024 * 1024))), end]),
  ],
  ['another name for the file', () => Buffer.concat([file('wrong'), end])],
  ['no boundary at all', () => mebibyte],
];
describe.each(forms.map((operation) => [operation.name, operation] as const))('%s', (_name, operation) => {
  it('refuses invalid forms, and keeps nothing of them', async () => {
    const timersBefore = timers.count;
    await Promise.all(
      faults.map(async ([fault, body]) => {
        const reply = await answerTo(operation, Buffer.concat([formHead(operation), body()]));
        const status = statusOf(reply) ?? 0;
        // The document lacks arguments of some mutations: only the form itself counts as a reason.
        const isRefused = status >= 400 && status < 500 && !reply.includes('GRAPHQL_VALIDATION_FAILED');
        expect(isRefused, `${fault}: ${status}`).toBe(true);
      }),
    );
    await nothingStays(timersBefore);
  });
});
