import { createLogger } from '../../src/http/log/logging.ts';
import { loadSettings } from '../../src/settings.ts';
import { startService } from '../../src/start/service.ts';

/** The administrator's key of services that are measured. */
export const adminKey = 'pk-bench-administrator-key-of-40-characters';

/** Asks a service as its administrator: GET without a body, else POST, of a form or as JSON. @throws Error for a reply that is an error. */
export async function call(url: string, body?: object): Promise<Response> {
  const isForm = body instanceof FormData;
  const reply = await fetch(url, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${adminKey}`, ...(isForm ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
  });
  if (!reply.ok) throw new Error(`${url}: ${reply.status} ${await reply.text()}`);
  return reply;
}

/** The same, of a reply in JSON. */
export async function callJson(url: string, body?: object): Promise<{ readonly id: string; readonly status: string }> {
  return (await (await call(url, body)).json()) as { readonly id: string; readonly status: string };
}

/** Starts a service on a PostgreSQL server, with a stand-in for its models. */
export function startOnServer(place: {
  readonly folder: string;
  readonly databaseUrl: string;
  readonly modelsUrl: string;
}): ReturnType<typeof startService> {
  const settings = loadSettings({
    PORT: '0',
    DATA_DIR: place.folder,
    DATABASE_URL: place.databaseUrl,
    OPENAI_BASE_URL: `${place.modelsUrl}/v1`,
    PARLEY_ADMIN_KEY: adminKey,
    PARLEY_MASTER_KEY: 'a master key for measurements only',
    DEMO: 'off',
  });
  return startService(settings, createLogger({ ...settings, LOG_LEVEL: 'silent' }), (error) => {
    throw error;
  });
}
