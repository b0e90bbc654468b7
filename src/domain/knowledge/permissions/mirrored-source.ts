import { DomainError } from '../../../entities/ground/errors.ts';
import type { DataSource } from '../../../entities/knowledge/data-source.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import type { Deps } from '../../deps.ts';
import { isAdministrator } from '../../ground/access/access.ts';
import { getDataSource } from '../sources.ts';

/**
 * A MIRRORED source of which an administrator asks who can see what.
 *
 * @param refusal  what others are told.
 * @throws DomainError NOT_FOUND for a source that the caller may not see; FORBIDDEN for everyone except administrators; CONFLICT for a source that is LENT.
 */
export async function getMirroredSource(deps: Deps, caller: Caller, id: string, refusal: string): Promise<DataSource> {
  const source = await getDataSource(deps, caller, id);
  if (!isAdministrator(caller, source.orgId)) throw new DomainError('FORBIDDEN', refusal);
  if (source.access !== 'MIRRORED') {
    const message = 'The source is LENT: everybody who may use one of its agents is answered from all of it';
    throw new DomainError('CONFLICT', message, { param: 'dataSourceId' });
  }
  return source;
}
