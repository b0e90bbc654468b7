import type { IncomingMessage } from 'node:http';
import type { AdmissionPool } from '../../engine/sharing/pools.ts';
import { DomainError } from '../../entities/errors.ts';
import { parseJsonBody, readBytes, requireJsonType } from '../../http/body/json.ts';
import type { Settings } from '../../settings.ts';
import type { Call } from './call.ts';
import type { DocumentRequest, Documents } from './documents/documents.ts';
import { readMultipart } from './multipart.ts';
import { type Params, paramsOf, paramsOfUrl, searchOf } from './params.ts';

/** Reads what a request asks for: from the address of a GET, from a JSON body, or from a form with files. */
export class RequestReader {
  readonly #documents: Documents;
  readonly #settings: Settings;
  readonly #uploads: AdmissionPool;

  constructor(documents: Documents, settings: Settings, uploads: AdmissionPool) {
    this.#documents = documents;
    this.#settings = settings;
    this.#uploads = uploads;
  }

  /**
   * Reads a request once; the second call returns what the first has read.
   *
   * @throws DomainError for a body of another type, and as the readers of each type.
   */
  async read(call: Call): Promise<DocumentRequest> {
    if (call.document !== undefined) return call.document;
    const document = this.#documents.request(await this.#params(call));
    call.document = document;
    call.measuredAs = document.kind ?? 'none';
    return document;
  }

  #params(call: Call): Params | Promise<Params> {
    const { req } = call;
    if (req.method === 'GET') return paramsOfUrl(searchOf(req));
    if (hasJson(req)) return this.#jsonParams(req);
    if (/^multipart\/form-data\b/i.test(contentType(req))) return this.#formParams(call);
    throw new DomainError('UNSUPPORTED_MEDIA_TYPE', 'The body must be application/json, or multipart/form-data with files');
  }

  async #jsonParams(req: IncomingMessage): Promise<Params> {
    requireJsonType(req);
    const { BODY_MAX_BYTES, BODY_IDLE_TIMEOUT_MS } = this.#settings;
    return paramsOf(parseJsonBody(await readBytes(req, BODY_MAX_BYTES, BODY_IDLE_TIMEOUT_MS)).value);
  }

  async #formParams(call: Call): Promise<Params> {
    this.#uploads.enter(call.caller);
    call.dispose = async () => this.#uploads.leave(call.caller);
    const { params, dispose } = await readMultipart(call.req, this.#settings);
    call.dispose = () => dispose().finally(() => this.#uploads.leave(call.caller));
    return params;
  }
}

export function hasJson(req: IncomingMessage): boolean {
  return /^application\/([\w.-]+\+)?json\b/i.test(contentType(req));
}

function contentType(req: IncomingMessage): string {
  return req.headers['content-type'] ?? '';
}
