import { extractSecrets } from '../../engine/tools/secrets-in-data.ts';
import { type JsonObject, secretReference } from '../../entities/agents/part.ts';

/** Members of a connected source's data that name something of this instance, and mean nothing elsewhere. */
const instanceMembers = ['oauthTokenId', 'repoHostAppInstallationId', 'selectedDriveAccount'];

/** Without what names things of this instance, and without credentials in addresses. */
export function portableData(data: JsonObject): JsonObject {
  const own = Object.fromEntries(Object.entries(data).filter(([name]) => !instanceMembers.includes(name)));
  const { data: clean } = extractSecrets('source', own, () => false);
  return JSON.parse(JSON.stringify(clean).replaceAll(secretReference, '')) as JsonObject;
}
