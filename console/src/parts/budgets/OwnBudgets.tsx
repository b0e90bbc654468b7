import { usePage } from '../../graphql/hooks.ts';
import { useText } from '../../text/text.ts';
import { Card } from '../../ui/page.tsx';
import { useSession } from '../session/session.tsx';
import { BudgetBar } from './BudgetBar.tsx';
import { OwnBudgetsDocument } from './documents.ts';

/** The budgets that count what the reader asks; nothing where there are none. */
export function OwnBudgets() {
  const { t } = useText();
  const { may } = useSession();
  const { data } = usePage(OwnBudgetsDocument, {}, { pause: !may('USAGE_READ') });
  if (data === undefined || data.ownBudgets.length === 0) return null;
  const names = {
    ORGANIZATION: t('Your organization'),
    GROUP: t('A group of yours'),
    USER: t('You'),
    KEY: t('This key'),
    AGENT: t('An agent'),
  };
  return (
    <Card>
      <h2>{t('Your budgets')}</h2>
      {data.ownBudgets.map((budget) => (
        <BudgetBar key={budget.id} name={names[budget.subject]} budget={budget} currency={data.viewer.costCurrency} />
      ))}
    </Card>
  );
}
