import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { z } from 'zod';

const name = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/, 'must be 1 to 64 letters, digits, _, . or -');
const texts = z.record(z.string().min(1), z.string());
const organizations = z
  .array(z.string().min(1))
  .optional()
  .describe('Ids of the organizations that may name the server; default: all.');

const program = z.strictObject({
  name,
  command: z.string().min(1),
  args: z.array(z.string()).default([]),
  env: texts.default({}).describe('The whole environment of the program, beside PATH.'),
  organizations,
});
const address = z.strictObject({
  name,
  url: z.url({ protocol: /^https?$/ }),
  headers: texts.default({}).describe('Sent with every request. `{{secret:KEY}}` is a secret of the caller.'),
  organizations,
});

/** Each entry is read as what it says it is, so that a fault names the member and not both forms. */
const server = z.looseObject({}).transform((entry, context): Program | Address => {
  const isProgram = 'command' in entry;
  if (isProgram === 'url' in entry) {
    context.addIssue({ code: 'custom', message: 'must have either command or url' });
    return z.NEVER;
  }
  const read = (isProgram ? program : address).safeParse(entry);
  if (read.success) return read.data;
  for (const { path, message } of read.error.issues) context.addIssue({ code: 'custom', path, message });
  return z.NEVER;
});
const serversFile = z.strictObject({ servers: z.array(server) });

type Program = z.infer<typeof program>;
type Address = z.infer<typeof address>;

/** An MCP server of the operator. Its address is not subject to the egress guard. */
export type OperatorServer = (Program & { readonly cwd: string }) | Address;

/**
 * Reads the file that MCP_SERVERS_FILE names. A program starts in the folder of the file.
 *
 * @throws Error naming every fault of the file at once, without the values of `env` and `headers`.
 */
export function readServersFile(path: string): readonly OperatorServer[] {
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    // A message of the JSON reader repeats what it read, which may be a secret.
    const reason = error instanceof SyntaxError ? 'it is no JSON' : error instanceof Error ? error.message : String(error);
    throw new Error(`bad configuration: MCP_SERVERS_FILE ${path} cannot be read: ${reason}`);
  }
  const parseResult = serversFile.safeParse(content);
  if (!parseResult.success) {
    throw new Error(`bad configuration: MCP_SERVERS_FILE ${path} is wrong\n${z.prettifyError(parseResult.error)}`);
  }
  const { servers } = parseResult.data;
  const duplicate = servers.find((one, index) => servers.findIndex((other) => other.name === one.name) < index);
  if (duplicate !== undefined) {
    throw new Error(`bad configuration: MCP_SERVERS_FILE ${path} is wrong\ntwo servers have the name ${duplicate.name}`);
  }
  const cwd = dirname(resolve(path));
  return servers.map((one) => ('command' in one ? { ...one, cwd } : one));
}
