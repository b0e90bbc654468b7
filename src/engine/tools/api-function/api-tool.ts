import { type JsonObject, readDescription, readParameters } from '../../../entities/agents/part.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import { nobody, type ShareOwner } from '../../../lib/flow/fair-share.ts';
import { detectImageType } from '../../../lib/image-type.ts';
import type { Egress, EgressReply } from '../../egress/egress.ts';
import { EgressError } from '../../egress/error.ts';
import { type ArgumentsReader, compileArguments } from '../json-schema/arguments.ts';
import { masker } from '../secrets/masking.ts';
import type { ServerTool, ToolResult } from '../server-tool.ts';
import { type ApiFunction, type DataFault, isReading, isRepeatable, readApiFunction } from './api-function.ts';
import { buildRequest } from './request.ts';
import { sendOnce } from './send-once.ts';

export interface ApiToolContext {
  readonly egress: Egress;
  readonly timeoutMs: number;
  readonly replyBytesMax: number;
  readonly resultCharsMax: number;
  /**
   * The values of the agent's secrets for this origin, by key; keys without a value are left out.
   *
   * @throws DomainError for a secret that was given for other origins.
   */
  secretsFor(keys: readonly string[], origin: string): Promise<ReadonlyMap<string, string>>;
}

/**
 * Makes an API_FUNCTION callable: checks the arguments against its schema, calls through egress with an `Idempotency-Key`, and
 * returns the reply as text without secrets. Error messages tell the model what to do.
 *
 * @param keys  the secrets that the tool's data refers to.
 *
 * Cost: nothing until the first call, which reads the data and compiles the schema (about a millisecond).
 */
export function createApiTool(
  { name, data }: { readonly name: string; readonly data: JsonObject },
  keys: readonly string[],
  context: ApiToolContext,
): ServerTool {
  // Prepared by the first call: an agent may have many tools, and a run calls few.
  let toolSetup: { readonly tool: ApiFunction; readonly read: ArgumentsReader } | undefined;
  const createTool = (owner: ShareOwner): ServerTool => ({
    definition: { name, description: readDescription(data), parameters: readParameters(data) },
    hint: `Calling ${name}`,
    ifLost: isRepeatable(data) ? 'repeat' : 'unknown',
    isReadOnly: isReading(data),
    async run(json, requestSecrets, signal, _tell, pass) {
      toolSetup ??= prepare(name, data);
      const { tool, read } = toolSetup;
      const args = read(json);
      if ('fault' in args) throw new DomainError('INVALID_VALUE', args.fault);
      const own = (key: string) => (Object.hasOwn(requestSecrets, key) ? requestSecrets[key] : undefined);
      const missing = keys.filter((key) => own(key) === undefined);
      const storedSecrets = missing.length === 0 ? new Map<string, string>() : await context.secretsFor(missing, tool.origin);
      const secretValues = new Map<string, string>();
      const secret = (key: string) => {
        const value = own(key) ?? storedSecrets.get(key);
        if (value === undefined) throw new DomainError('INVALID_VALUE', `The secret ${key} of this tool has no value`);
        secretValues.set(key, value);
        return value;
      };
      const request = buildRequest(tool, { args: args.value, secret });
      const mask = masker(secretValues.values());
      const { timeoutMs, replyBytesMax: bytesMax } = context;
      try {
        // A secret is for one origin only; the same host under https is another one.
        const redirectsWithin = secretValues.size > 0 ? 'origin' : 'host';
        const call = { ...request, owner, bytesMax, timeoutMs, redirectsWithin } as const;
        const reply = await sendOnce(context.egress, call, pass, signal);
        return toResult(reply, mask, context.resultCharsMax, name);
      } catch (error) {
        if (error instanceof EgressError) throw new DomainError('UPSTREAM_ERROR', mask(`The call failed: ${error.message}`));
        throw error;
      }
    },
    countedFor: createTool,
  });
  return createTool(nobody);
}

/** @throws DomainError for data of an older version that is no longer accepted. The faults name members and repeat no value. */
function prepare(name: string, data: JsonObject): { readonly tool: ApiFunction; readonly read: ArgumentsReader } {
  const faults: DataFault[] = [];
  const tool = readApiFunction(data, faults);
  const [fault] = faults;
  if (fault !== undefined) {
    throw new DomainError(
      'INVALID_VALUE',
      `The tool ${name} cannot be called until its data is changed: ${fault.path} ${fault.message}`,
    );
  }
  return { tool, read: compileArguments(tool.parameters) };
}

/** The text of a reply; an image is a file of the run. @throws DomainError for an error status, with the service's message. */
function toResult(reply: EgressReply, mask: (text: string) => string, charsMax: number, name: string): string | ToolResult {
  const text = bounded(mask(readText(reply)), charsMax);
  if (reply.status < 400 && (reply.status < 300 || reply.status === 304)) {
    const mimeType = detectImageType(reply.body);
    if (mimeType === undefined) return text;
    const filename = `${name}.${mimeType === 'image/jpeg' ? 'jpg' : mimeType.slice('image/'.length)}`;
    return { text: `[an image, ${reply.body.length} bytes]`, newFiles: [{ filename, mimeType, bytes: reply.body }] };
  }
  const what = reply.status < 400 ? 'and leads to another host' : text;
  throw new DomainError('UPSTREAM_ERROR', `The service answered ${reply.status}${what === '' ? '' : `: ${what}`}`);
}

function readText({ body, headers }: EgressReply): string {
  const type = headers['content-type'] ?? '';
  if (body.length === 0) return '';
  if (/^(image|audio|video|font)\/|octet-stream|zip|pdf/i.test(type)) return `[${body.length} bytes of ${type.split(';')[0]}]`;
  return new TextDecoder(/charset=["']?(?:iso-8859-1|latin1|windows-1252)/i.test(type) ? 'windows-1252' : 'utf-8').decode(body);
}

function bounded(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text;
  return `${text.slice(0, charsMax).toWellFormed()}\n[cut: ${text.length - charsMax} more characters]`;
}
