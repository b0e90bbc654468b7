import type { ReactNode } from 'react';
import { Route, Switch } from 'wouter';
import { Missing } from '../../parts/Missing.tsx';
import { useText } from '../../text/text.ts';
import { Page } from '../../ui/page.tsx';
import { TabLinks } from '../../ui/tabs.tsx';
import { RunsBeside } from './beside/RunsBeside.tsx';
import { Feedback } from './Feedback.tsx';
import { RunList } from './list/RunList.tsx';
import { Questions } from './Questions.tsx';
import { RunPage } from './run/RunPage.tsx';

/** What runs and what ran, the questions without an answer, and the rated answers. */
export function Runs() {
  return (
    <Switch>
      <Route path="/runs">
        <Tab current="/runs">
          <RunList />
        </Tab>
      </Route>
      <Route path="/runs/questions">
        <Tab current="/runs/questions">
          <Questions />
        </Tab>
      </Route>
      <Route path="/runs/feedback">
        <Tab current="/runs/feedback">
          <Feedback />
        </Tab>
      </Route>
      <Route path="/runs/beside">
        <RunsBeside />
      </Route>
      <Route path="/runs/:id">{({ id }) => <RunPage key={id} id={id} />}</Route>
      <Route>
        <Missing />
      </Route>
    </Switch>
  );
}

function Tab({ current, children }: { readonly current: string; readonly children: ReactNode }) {
  const { t } = useText();
  return (
    <Page title={t('Runs')} lead={t('What your agents and models are doing, what it took, and where they had no answer.')}>
      <TabLinks
        label={t('Parts of this page')}
        current={current}
        tabs={[
          { href: '/runs', label: t('Runs') },
          { href: '/runs/questions', label: t('Questions without an answer') },
          { href: '/runs/feedback', label: t('Feedback') },
        ]}
      />
      {children}
    </Page>
  );
}
