import { useMutate, usePage } from '../../../../graphql/hooks.ts';
import { useSession } from '../../../../parts/session/session.tsx';
import { useText } from '../../../../text/text.ts';
import { ErrorNote, Note } from '../../../../ui/feedback.tsx';
import { Button } from '../../../../ui/form/button.tsx';
import { findFault } from '../../../../ui/form/faults/find.ts';
import { Checkbox } from '../../../../ui/form/field.tsx';
import { Section } from '../../../../ui/page.tsx';
import { CodeBox } from '../../../../ui/small.tsx';
import { visibilityName } from '../../words.ts';
import styles from '../editor.module.css';
import { Fault } from '../parts/Fault.tsx';
import type { EditorAgent, SectionProps } from '../section.ts';
import { ApproveAgentDocument, SharingChoicesDocument } from './documents.ts';
import { Editors } from './Editors.tsx';
import { GroupChoice } from './GroupChoice.tsx';

const visibilities = ['PRIVATE', 'GROUP', 'ORGANIZATION', 'ANYONE_WITH_LINK'] as const;
const catalogs = ['ORGANIZATION', 'TENANT', 'PUBLIC'] as const;

/** Who may use the agent, who may change it, and where people find it. */
export function Sharing({ agent, form }: SectionProps) {
  const { t } = useText();
  const session = useSession();
  const { fields, set, error } = form;
  const { data } = usePage(SharingChoicesDocument, { search: null });
  const mayShare = agent.canManage && !form.isReadOnly;
  const meanings = {
    PRIVATE: t('Its owner and its editors use it. Nobody else sees it.'),
    GROUP: t('Members of the groups below use it too.'),
    ORGANIZATION: t('Everyone in {organization} finds and uses it.', { organization: session.viewer.organization.name }),
    ANYONE_WITH_LINK: t(
      'Whoever has the link and an account here uses it, also in other organizations. No list shows it to them.',
    ),
  };
  const catalogWords = {
    ORGANIZATION: [t('Catalog of the organization'), t('Colleagues find it under “Of the organization”.')],
    TENANT: [t('Catalog of the tenant'), t('Other organizations of the same tenant find it.')],
    PUBLIC: [t('Public catalog'), t('Everyone of this installation finds it.')],
  } as const;
  return (
    <div className={styles.fields}>
      <fieldset className={styles.fields} disabled={!mayShare}>
        <legend className="visually-hidden">{t('Sharing')}</legend>
        <Section title={t('Who may use it')}>
          {mayShare || form.isReadOnly ? null : <Note>{t('Its owner and administrators decide who uses and edits it.')}</Note>}
          <div role="radiogroup" aria-label={t('Who may use it')} className={styles.choiceList}>
            {visibilities.map((visibility) => (
              <label key={visibility} className={styles.choice}>
                <input
                  type="radio"
                  name="visibility"
                  checked={fields.visibility === visibility}
                  onChange={() => set('visibility', visibility)}
                />
                <span>
                  <strong>{visibilityName(t, visibility)}</strong>
                  <small>{meanings[visibility]}</small>
                </span>
              </label>
            ))}
          </div>
          <Fault error={findFault(error, 'input.visibility')} />
          {fields.visibility === 'GROUP' ? <GroupChoice form={form} /> : null}
          <CodeBox label={t('Link to a new chat')} text={`${location.origin}/?agent=${agent.id}`} />
        </Section>
        <Editors form={form} owner={agent.owner?.name} />
      </fieldset>
      <fieldset className={styles.fields} disabled={form.isReadOnly}>
        <legend className="visually-hidden">{t('Where people find it')}</legend>
        <Section title={t('Where people find it')} lead={t('Catalogs list an agent; who may use it is decided above.')}>
          {catalogs.map((catalog) => (
            <Checkbox
              key={catalog}
              label={catalogWords[catalog][0]}
              hint={catalogWords[catalog][1]}
              checked={fields.catalogs.includes(catalog)}
              onChange={(event) =>
                set(
                  'catalogs',
                  event.target.checked ? [...fields.catalogs, catalog] : fields.catalogs.filter((name) => name !== catalog),
                )
              }
            />
          ))}
          <Fault error={findFault(error, 'input.catalogs')} />
          {(data?.agentCategories.length ?? 0) > 0 ? <Categories categories={data?.agentCategories ?? []} form={form} /> : null}
        </Section>
      </fieldset>
      {session.isAdmin && session.may('ADMIN_WRITE') ? <Approval agent={agent} isChanged={form.changed.length > 0} /> : null}
    </div>
  );
}

function Categories({
  categories,
  form: { fields, set },
}: Pick<SectionProps, 'form'> & { readonly categories: readonly { readonly id: string; readonly name: string }[] }) {
  const { t } = useText();
  return (
    <fieldset className={styles.group}>
      <legend>{t('Categories')}</legend>
      {categories.map(({ id, name }) => (
        <Checkbox
          key={id}
          label={name}
          checked={fields.orgCategoryIds.includes(id)}
          onChange={(event) =>
            set(
              'orgCategoryIds',
              event.target.checked ? [...fields.orgCategoryIds, id] : fields.orgCategoryIds.filter((other) => other !== id),
            )
          }
        />
      ))}
    </fieldset>
  );
}

/** Whether the organization approves the agent. */
function Approval({ agent, isChanged }: { readonly agent: EditorAgent; readonly isChanged: boolean }) {
  const { t } = useText();
  const approve = useMutate(ApproveAgentDocument);
  return (
    <Section
      title={t('Approval')}
      lead={t(
        'An approved agent may use the memories of people without asking each of them. The approval ends with the next change.',
      )}
    >
      <div className={styles.choices}>
        <Button
          isBusy={approve.isBusy}
          disabled={isChanged}
          onClick={() => void approve.run({ id: agent.id, isApproved: !agent.isApprovedByOrg })}
        >
          {agent.isApprovedByOrg ? t('Withdraw the approval') : t('Approve this agent')}
        </Button>
      </div>
      <ErrorNote error={approve.error} />
    </Section>
  );
}
