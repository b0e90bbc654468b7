import { useState } from 'react';
import { useList, usePage } from '../../../../graphql/hooks.ts';
import people from '../../../../parts/people/people.module.css';
import { useSession } from '../../../../parts/session/session.tsx';
import { type Text, useText } from '../../../../text/text.ts';
import { ErrorNote, ShowMore, Skeleton } from '../../../../ui/feedback.tsx';
import { Button } from '../../../../ui/form/button.tsx';
import { SearchInput } from '../../../../ui/form/field.tsx';
import { Section, Table } from '../../../../ui/page.tsx';
import { Avatar } from '../../../../ui/small.tsx';
import { useDelayed } from '../../../../ui/use-delayed.ts';
import { useWords } from '../../words.ts';
import styles from '../source.module.css';
import { OpenDocumentsDocument, type OpenDocumentsQuery, PeopleChoiceDocument, type PeopleChoiceQuery } from './documents.ts';

type Person = PeopleChoiceQuery['users']['nodes'][number];
type OpenDocument = OpenDocumentsQuery['openDocuments']['nodes'][number];
type Principal = OpenDocument['lists'][number]['principals'][number];

/** What a person can see in a source, for administrators: first the person is chosen. */
export function SeenByPerson({ sourceId }: { readonly sourceId: string }) {
  const { t } = useText();
  const [person, setPerson] = useState<Person>();
  return (
    <Section
      title={t('What can this person see here?')}
      lead={t('The names of the documents, and why, without their text. Each look is in the audit log.')}
      actions={person === undefined ? undefined : <Button onClick={() => setPerson(undefined)}>{t('Another person')}</Button>}
    >
      {person === undefined ? <PersonPicker onChoose={setPerson} /> : <Seen sourceId={sourceId} person={person} />}
    </Section>
  );
}

function PersonPicker({ onChoose }: { readonly onChoose: (person: Person) => void }) {
  const { t } = useText();
  const { viewer } = useSession();
  const [typed, setTyped] = useState('');
  const search = useDelayed(typed.trim());
  const variables = { orgId: viewer.organization.id, search: search === '' ? null : search };
  const { data, error, isLoading, reload } = usePage(PeopleChoiceDocument, variables);
  const matches = data?.users.nodes ?? [];
  return (
    <>
      <SearchInput label={t('Search people')} value={typed} onChange={setTyped} />
      <ErrorNote error={error} onRetry={reload} />
      {isLoading ? <Skeleton lines={3} /> : null}
      {data !== undefined && matches.length === 0 ? <p className={styles.quiet}>{t('No matching people.')}</p> : null}
      {matches.length === 0 ? null : (
        <ul className={people.rows} aria-label={t('People')}>
          {matches.map((person) => (
            <li key={person.id}>
              <span className={people.person}>
                <Avatar name={person.name} />
                <span className={people.personWords}>
                  {person.name}
                  <span className={people.quiet}>{person.email}</span>
                </span>
              </span>
              <Button
                size="small"
                aria-label={t('Show what {name} can see', { name: person.name })}
                onClick={() => onChoose(person)}
              >
                {t('Show')}
              </Button>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function Seen({ sourceId, person }: { readonly sourceId: string; readonly person: Person }) {
  const text = useText();
  const { t } = text;
  const { states } = useWords();
  const [typed, setTyped] = useState('');
  const search = useDelayed(typed.trim());
  const variables = { id: sourceId, userId: person.id, search: search === '' ? null : search };
  const { data, error, isLoading, reload, pages } = useList(OpenDocumentsDocument, variables, (data) => data.openDocuments);
  const count = data?.openDocuments.totalCount ?? 0;
  return (
    <>
      <p role="status">
        {data !== undefined && count === 0 && search === '' ? t('{name} can see nothing here.', { name: person.name }) : null}
        {data !== undefined && count > 0
          ? t('{name} can see {count, plural, one {# document} other {# documents}} here.', { name: person.name, count })
          : null}
        {data !== undefined && count === 0 && search !== '' ? t('No matching documents.') : null}
      </p>
      {count === 0 && search === '' ? null : <SearchInput label={t('Search by name')} value={typed} onChange={setTyped} />}
      <ErrorNote error={error} onRetry={reload} />
      {isLoading ? <Skeleton lines={4} /> : null}
      {pages.nodes.length === 0 ? null : (
        <Table label={t('Documents that {name} can see', { name: person.name })}>
          <thead>
            <tr>
              <th scope="col">{t('Name')}</th>
              <th scope="col">{t('State')}</th>
              <th scope="col">{t('Opened by')}</th>
            </tr>
          </thead>
          <tbody>
            {pages.nodes.map(({ id, name, indexStatus, lists }) => (
              <tr key={id}>
                <th scope="row">{name}</th>
                <td>{states[indexStatus].label}</td>
                <td>{describeLists(lists, text)}</td>
              </tr>
            ))}
          </tbody>
        </Table>
      )}
      <ShowMore pages={pages} />
    </>
  );
}

/** Every list has to name the person: the reasons are joined by "and". */
function describeLists(lists: OpenDocument['lists'], { t, language }: Text): string {
  const reasons = new Set(
    lists.map(({ principals }) =>
      new Intl.ListFormat(language, { type: 'disjunction' }).format(
        principals.map((principal) => describePrincipal(principal, t)),
      ),
    ),
  );
  return new Intl.ListFormat(language, { type: 'conjunction' }).format(reasons);
}

function describePrincipal({ form, key, name, isByLink }: Principal, t: Text['t']): string {
  const words = () => {
    switch (form) {
      case 'ACCOUNT':
        return t('the connected account');
      case 'EMAIL':
        return t('the e-mail {email}', { email: key });
      case 'GROUP':
        return t('the group {name}', { name: name ?? key });
      case 'DOMAIN':
        return t('the domain {domain}', { domain: key });
      case 'ANYONE_IN_ORGANIZATION':
        return t('everybody in the organization');
      default:
        return t('everybody');
    }
  };
  return isByLink ? t('{who}, by a link', { who: words() }) : words();
}
