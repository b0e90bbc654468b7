import type { Connection, ConnectionSecrets } from '../../../entities/knowledge/connection.ts';
import { connectionPlace } from '../../../storage/knowledge/connections.ts';
import type { Storage } from '../../../storage/storage.ts';

/** The secrets of a connection; undefined when it was deleted. Never given to an API. */
export async function openSecrets(
  { connections, vault }: Pick<Storage, 'connections' | 'vault'>,
  connection: Pick<Connection, 'id' | 'orgId'>,
): Promise<ConnectionSecrets | undefined> {
  const sealed = await connections.findSealed(connection.id);
  if (sealed === undefined) return undefined;
  return JSON.parse(await vault.open(connectionPlace(connection), sealed)) as ConnectionSecrets;
}

export function sealSecrets(
  { vault }: Pick<Storage, 'vault'>,
  connection: Pick<Connection, 'id' | 'orgId'>,
  secrets: ConnectionSecrets,
): Promise<string> {
  return vault.seal(connectionPlace(connection), JSON.stringify(secrets));
}
