import { createHash } from 'node:crypto';
import { DomainError } from '../../entities/ground/errors.ts';
import { isId } from '../../entities/ground/ids.ts';
import type { Page, PageRequest } from '../../entities/ground/page.ts';
import { documentNamePattern, isReservedName, type SavedDocument } from '../../entities/operations/saved-document.ts';
import type { Caller } from '../../entities/people/caller.ts';
import type { Deps } from '../deps.ts';
import { isAdministrator } from '../ground/access/access.ts';
import { Faults } from '../ground/faults.ts';

export interface SaveDocumentInput {
  readonly name: string;
  readonly description: string;
  readonly document: string;
}

/** Documents of one organization: its tools are listed by every MCP client. */
const documentsMax = 200;
const descriptionMax = 1_000;
const documentMaxChars = 20_000;

/** The documents of the caller's organization, newest first. */
export function listSavedDocuments(deps: Deps, caller: Caller, page: PageRequest): Promise<Page<SavedDocument>> {
  return deps.storage.operations.savedDocuments.list(caller.orgId, page);
}

/** Those of the caller's organization among `ids`. */
export function getSavedDocuments(deps: Deps, caller: Caller, ids: readonly string[]): Promise<readonly SavedDocument[]> {
  return deps.storage.operations.savedDocuments.findMany(ids, caller.orgId);
}

/** @param id  the id or the name. @throws DomainError NOT_FOUND. */
export async function getSavedDocument(deps: Deps, caller: Caller, id: string): Promise<SavedDocument> {
  const [document] = await getSavedDocuments(deps, caller, [id]);
  if (document === undefined) throw missingDocument();
  return document;
}

/**
 * Saves a document for the caller's organization: a new one, or in place of that of the same name. Its tool and its route are there at once.
 *
 * @param check  says what is wrong with the text as a document of the schema; undefined: nothing.
 * @throws DomainError FORBIDDEN for who is no administrator; INVALID_VALUE naming every faulty member; CONFLICT when there are as many as may be.
 */
export async function saveDocument(
  deps: Deps,
  caller: Caller,
  input: SaveDocumentInput,
  check: (text: string) => string | undefined,
): Promise<SavedDocument> {
  requireAdministrator(caller);
  const { name, document } = input;
  const description = input.description.trim();
  const faults = new Faults();
  if (!documentNamePattern.test(name))
    faults.add(
      'name',
      'name must have lower-case letters, digits and _ only, begin with a letter, and have at most 64 characters',
    );
  else if (isReservedName(name) || isId('savedDocument', name))
    faults.add('name', 'name must not be search_knowledge, nor begin with ask_: these are tools of agents');
  faults.requireName('description', description, descriptionMax);
  faults.requireName('document', document, documentMaxChars);
  faults.throwIfAny();
  const fault = check(document);
  if (fault !== undefined) faults.add('document', `document ${fault}`);
  faults.throwIfAny();
  const { orgId } = caller;
  const { savedDocuments } = deps.storage.operations;
  const hash = createHash('sha256').update(document).digest('hex');
  return deps.audit.change(caller, async () => {
    const [before] = await savedDocuments.findMany([name], orgId);
    if (before === undefined && (await savedDocuments.count(orgId)) >= documentsMax)
      throw new DomainError('CONFLICT', `An organization has at most ${documentsMax} saved documents: delete one first`);
    const id = before?.id ?? deps.newId('savedDocument');
    return savedDocuments.set({ id, createdAt: deps.now(), orgId, name, description, document, hash });
  });
}

/** @param id  the id or the name. @returns what it was. @throws DomainError NOT_FOUND; FORBIDDEN for who is no administrator. */
export async function deleteSavedDocument(deps: Deps, caller: Caller, id: string): Promise<SavedDocument> {
  requireAdministrator(caller);
  const document = await getSavedDocument(deps, caller, id);
  return deps.audit.change(caller, async () => {
    if (!(await deps.storage.operations.savedDocuments.delete(document.id, caller.orgId))) throw missingDocument();
    return document;
  });
}

function requireAdministrator(caller: Caller): void {
  if (!isAdministrator(caller, caller.orgId))
    throw new DomainError('FORBIDDEN', 'Only administrators save and delete documents of their organization');
}

function missingDocument(): DomainError {
  return new DomainError('NOT_FOUND', 'There is no such saved document', { param: 'id' });
}
