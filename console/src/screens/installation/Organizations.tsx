import { Pencil, Plus } from 'lucide-react';
import { useState } from 'react';
import { useList, useMutate, usePage } from '../../graphql/hooks.ts';
import { useText } from '../../text/text.ts';
import { ErrorNote, ShowMore, Skeleton } from '../../ui/feedback.tsx';
import { Button, IconButton } from '../../ui/form/button.tsx';
import { errorBeside, findFault } from '../../ui/form/faults/find.ts';
import type { FieldError } from '../../ui/form/field.tsx';
import { SelectField, TextField } from '../../ui/form/fields.tsx';
import { FormDialog } from '../../ui/overlay/form-dialog.tsx';
import { Section, Table } from '../../ui/page.tsx';
import {
  CreateOrganizationDocument,
  CreateTenantDocument,
  InstallationOrganizationsDocument,
  InstallationTenantsDocument,
  type OrganizationRowFragment,
  UpdateOrganizationDocument,
} from './documents.ts';
import styles from './installation.module.css';

/** All organizations with their limits and what they used in 30 days. */
export function Organizations() {
  const { t, number } = useText();
  const [edited, setEdited] = useState<OrganizationRowFragment | 'new'>();
  const { error, isLoading, reload, pages } = useList(InstallationOrganizationsDocument, {}, (data) => data.organizations);
  const limit = (value: number | null) => (value === null ? t('none') : number(value));
  return (
    <Section
      title={t('Organizations')}
      actions={
        <Button icon={<Plus size={16} aria-hidden />} onClick={() => setEdited('new')}>
          {t('New organization')}
        </Button>
      }
    >
      <ErrorNote error={error} onRetry={reload} />
      {isLoading ? <Skeleton lines={4} /> : null}
      {pages.nodes.length === 0 ? null : (
        <Table label={t('Organizations')}>
          <thead>
            <tr>
              <th scope="col">{t('Organization')}</th>
              <th scope="col">{t('Tenant')}</th>
              <th scope="col" className={styles.number}>
                {t('People')}
              </th>
              <th scope="col" className={styles.number}>
                {t('Tokens in 30 days')}
              </th>
              <th scope="col" className={styles.number}>
                {t('Limit of tokens')}
              </th>
              <th scope="col" className={styles.number}>
                {t('Limit of data tokens')}
              </th>
              <th scope="col">
                <span className="visually-hidden">{t('What can be done')}</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {pages.nodes.map((organization) => (
              <tr key={organization.id}>
                <th scope="row">{organization.name}</th>
                <td>{organization.tenant?.name}</td>
                <td className={styles.number}>{number(organization.members?.totalCount ?? 0)}</td>
                <td className={styles.number}>
                  {number((organization.usage?.apiTokensUsed ?? 0) + (organization.usage?.dataTokensUsed ?? 0))}
                </td>
                <td className={styles.number}>{limit(organization.apiUsageTokenLimit)}</td>
                <td className={styles.number}>{limit(organization.dataUsageTokenLimit)}</td>
                <td>
                  <IconButton label={t('Edit {name}', { name: organization.name })} onClick={() => setEdited(organization)}>
                    <Pencil size={16} aria-hidden />
                  </IconButton>
                </td>
              </tr>
            ))}
          </tbody>
        </Table>
      )}
      <ShowMore pages={pages} />
      {edited === undefined ? null : (
        <OrganizationDialog
          organization={edited === 'new' ? undefined : edited}
          onClose={() => setEdited(undefined)}
          onSaved={reload}
        />
      )}
    </Section>
  );
}

function OrganizationDialog({
  organization,
  onClose,
  onSaved,
}: {
  readonly organization: OrganizationRowFragment | undefined;
  readonly onClose: () => void;
  readonly onSaved: () => void;
}) {
  const { t } = useText();
  const [name, setName] = useState(organization?.name ?? '');
  const [tokens, setTokens] = useState(String(organization?.apiUsageTokenLimit ?? ''));
  const [dataTokens, setDataTokens] = useState(String(organization?.dataUsageTokenLimit ?? ''));
  const [tenantId, setTenantId] = useState('');
  const [tenantName, setTenantName] = useState('');
  const create = useMutate(CreateOrganizationDocument);
  const createTenant = useMutate(CreateTenantDocument);
  const update = useMutate(UpdateOrganizationDocument);
  const error = create.error ?? update.error ?? createTenant.error;
  const parseNumber = (text: string) => (text.trim() === '' ? null : Number(text));
  const save = async () => {
    const input = { name: name.trim(), apiUsageTokenLimit: parseNumber(tokens), dataUsageTokenLimit: parseNumber(dataTokens) };
    if (organization !== undefined) {
      if ((await update.run({ id: organization.id, input })) === undefined) return;
    } else {
      const own = tenantId === 'new' ? (await createTenant.run({ name: tenantName.trim() }))?.createTenant.id : tenantId;
      if (own === undefined) return;
      if ((await create.run({ input: own === '' ? input : { ...input, tenantId: own } })) === undefined) return;
    }
    onSaved();
    onClose();
  };
  return (
    <FormDialog
      title={organization === undefined ? t('New organization') : t('Edit {name}', { name: organization.name })}
      onClose={onClose}
      onSubmit={() => void save()}
      action={t('Save')}
      isBusy={create.isBusy || update.isBusy || createTenant.isBusy}
      isBlocked={name.trim() === '' || (tenantId === 'new' && tenantName.trim() === '')}
    >
      <TextField label={t('Name')} error={findFault(error, 'name')} maxLength={200} value={name} onChange={setName} />
      {organization === undefined ? <TenantField value={tenantId} onChange={setTenantId} /> : null}
      {tenantId === 'new' ? <TenantNameField value={tenantName} onChange={setTenantName} /> : null}
      <LimitField
        label={t('Limit of tokens')}
        hint={t('For answers, in 30 days. Empty: no limit.')}
        error={findFault(error, 'apiUsageTokenLimit')}
        value={tokens}
        onChange={setTokens}
      />
      <LimitField
        label={t('Limit of data tokens')}
        hint={t('For knowledge, in 30 days. Empty: no limit.')}
        error={findFault(error, 'dataUsageTokenLimit')}
        value={dataTokens}
        onChange={setDataTokens}
      />
      <ErrorNote error={errorBeside(error, ['name', 'apiUsageTokenLimit', 'dataUsageTokenLimit'])} />
    </FormDialog>
  );
}

function TenantNameField({ value, onChange }: { readonly value: string; readonly onChange: (name: string) => void }) {
  const { t } = useText();
  return <TextField label={t('Name of the tenant')} maxLength={200} value={value} onChange={onChange} />;
}

/** The tenant of a new organization. */
function TenantField({ value, onChange }: { readonly value: string; readonly onChange: (tenantId: string) => void }) {
  const { t } = useText();
  const tenants = usePage(InstallationTenantsDocument, {});
  return (
    <SelectField
      label={t('Tenant')}
      hint={t('People are accounts of a tenant; organizations of one tenant may share people.')}
      value={value}
      onChange={onChange}
      options={[
        { value: '', label: t('That of your organization') },
        ...(tenants.data?.tenants.nodes ?? []).map(({ id, name }) => ({ value: id, label: name })),
        { value: 'new', label: t('A new tenant') },
      ]}
    />
  );
}

function LimitField({
  label,
  hint,
  error,
  value,
  onChange,
}: {
  readonly label: string;
  readonly hint: string;
  readonly error: FieldError;
  readonly value: string;
  readonly onChange: (value: string) => void;
}) {
  return <TextField label={label} hint={hint} error={error} type="number" min={0} value={value} onChange={onChange} />;
}
