import { Pencil, Plus } from 'lucide-react';
import { useState } from 'react';
import { run } from '../../graphql/client.ts';
import { useMorePages, useMutate, usePage } from '../../graphql/hooks.ts';
import { useText } from '../../text/text.ts';
import { ErrorNote, Skeleton } from '../../ui/feedback.tsx';
import { Button, IconButton } from '../../ui/form/button.tsx';
import { errorBeside, findFault } from '../../ui/form/faults/find.ts';
import { Field, type FieldError, Select, TextInput } from '../../ui/form/field.tsx';
import { ShowMore } from '../../ui/more.tsx';
import { Dialog } from '../../ui/overlay/dialog.tsx';
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
  const { data, error, isLoading, reload } = usePage(InstallationOrganizationsDocument, {});
  const pages = useMorePages(
    data?.organizations,
    async (after) => (await run(InstallationOrganizationsDocument, { after })).organizations,
  );
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
    <Dialog
      title={organization === undefined ? t('New organization') : t('Edit {name}', { name: organization.name })}
      isOpen
      onClose={onClose}
      onSubmit={() => void save()}
      actions={
        <>
          <Button onClick={onClose}>{t('Cancel')}</Button>
          <Button
            type="submit"
            variant="primary"
            isBusy={create.isBusy || update.isBusy || createTenant.isBusy}
            disabled={name.trim() === '' || (tenantId === 'new' && tenantName.trim() === '')}
          >
            {t('Save')}
          </Button>
        </>
      }
    >
      <Field label={t('Name')} error={findFault(error, 'name')}>
        {(control) => <TextInput {...control} maxLength={200} value={name} onChange={(event) => setName(event.target.value)} />}
      </Field>
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
    </Dialog>
  );
}

function TenantNameField({ value, onChange }: { readonly value: string; readonly onChange: (name: string) => void }) {
  const { t } = useText();
  return (
    <Field label={t('Name of the tenant')}>
      {(control) => <TextInput {...control} maxLength={200} value={value} onChange={(event) => onChange(event.target.value)} />}
    </Field>
  );
}

/** The tenant of a new organization. */
function TenantField({ value, onChange }: { readonly value: string; readonly onChange: (tenantId: string) => void }) {
  const { t } = useText();
  const tenants = usePage(InstallationTenantsDocument, {});
  return (
    <Field label={t('Tenant')} hint={t('People are accounts of a tenant; organizations of one tenant may share people.')}>
      {(control) => (
        <Select {...control} value={value} onChange={(event) => onChange(event.target.value)}>
          <option value="">{t('That of your organization')}</option>
          {tenants.data?.tenants.nodes.map((tenant) => (
            <option key={tenant.id} value={tenant.id}>
              {tenant.name}
            </option>
          ))}
          <option value="new">{t('A new tenant')}</option>
        </Select>
      )}
    </Field>
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
  return (
    <Field label={label} hint={hint} error={error}>
      {(control) => (
        <TextInput {...control} type="number" min={0} value={value} onChange={(event) => onChange(event.target.value)} />
      )}
    </Field>
  );
}
