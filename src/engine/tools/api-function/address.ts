import type { RunnableTool } from '../../../entities/agents/part.ts';

/** An http(s) address whose later parts may hold placeholders. */
export interface Address {
  /** Scheme, host and port as URLs write them: `https://api.example.com:8443`. */
  readonly origin: string;
  readonly userinfo: string | undefined;
  readonly path: string;
  readonly search: string;
}

/** @returns undefined for other texts, and for a placeholder in scheme, host or port: `host:{port}` and `host{path}` too. */
export function splitAddress(text: string): Address | undefined {
  const parts = /^(https?:\/\/)(?:([^/?#@\\]*)@)?([^/?#@\\{}\s]+)([^?#]*)(?:\?([^#]*))?(?:#.*)?$/i.exec(text.trim());
  if (parts === null) return undefined;
  const [, scheme = '', userinfo, host = '', path = '', search = ''] = parts;
  const base = URL.parse(`${scheme}${host}/`);
  if (base === null || base.pathname !== '/' || base.username !== '' || !/^(?:\/|$)/.test(path)) return undefined;
  return { origin: base.origin, userinfo, path, search };
}

/** The origin of a tool's calls; undefined for tools that the service does not call. */
export function originOfTool({ type, data }: Pick<RunnableTool, 'type' | 'data'>): string | undefined {
  return type === 'CLIENT_FUNCTION' || typeof data.url !== 'string' ? undefined : splitAddress(data.url)?.origin;
}
