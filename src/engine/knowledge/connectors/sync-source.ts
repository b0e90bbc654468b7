import type { Storage } from '../../../storage/storage.ts';

/**
 * Brings a connected source up to date with what stands at the other end.
 *
 * This version has no connector: every such source ends as FAILED, with a reason that a person can act on. What it was added with is kept,
 * so that it can be read as soon as a version with its connector runs.
 */
export async function syncSource({ storage }: { readonly storage: Storage }, dataSourceId: string): Promise<void> {
  await storage.connectedSources.fail(dataSourceId, {
    code: 'CONNECTOR_UNAVAILABLE',
    message:
      'The connector for this kind of source is not available in this version. The source is kept as it was added; refresh it once the service has been updated.',
  });
}
