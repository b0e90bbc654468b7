import { extractSecrets } from '../../../engine/tools/secrets/secrets-in-data.ts';
import { type JsonObject, secretReference } from '../../../entities/agents/part.ts';

/** Members of a connected source's data that name something of this installation. */
const instanceMembers = ['oauthTokenId', 'repoHostAppInstallationId', 'selectedDriveAccount'];

/** Source data without references to this installation, and without credentials in addresses. */
export function portableData(data: JsonObject): JsonObject {
  const own = Object.fromEntries(Object.entries(data).filter(([name]) => !instanceMembers.includes(name)));
  const { data: clean } = extractSecrets('source', own, () => false);
  return JSON.parse(JSON.stringify(clean).replaceAll(secretReference, '')) as JsonObject;
}
