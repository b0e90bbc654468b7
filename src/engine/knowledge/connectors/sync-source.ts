import type { Storage } from '../../../storage/storage.ts';

/**
 * Fetches the current content of a connected source.
 *
 * This version has no connector: every such source ends as FAILED, with a reason that a person can act on. Its configuration is
 * kept, so that a version with its connector can read it.
 */
export async function syncSource({ storage }: { readonly storage: Storage }, dataSourceId: string): Promise<void> {
  await storage.connectedSources.fail(dataSourceId, {
    code: 'CONNECTOR_UNAVAILABLE',
    message:
      'The connector for this kind of source is not available in this version. The source is kept as it was added; refresh it once the service has been updated.',
  });
}
