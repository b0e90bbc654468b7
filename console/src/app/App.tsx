import { lazy, type ReactNode, Suspense } from 'react';
import { Provider } from 'urql';
import { Redirect, Route, Switch, useLocation, useSearch } from 'wouter';
import { client } from '../graphql/client.ts';
import { Missing } from '../parts/Missing.tsx';
import { SessionGate } from '../parts/session/session.tsx';
import { Chat } from '../screens/chat/Chat.tsx';
import { I18nProvider, i18n } from '../text/text.ts';
import { ConfirmProvider } from '../ui/overlay/confirm.tsx';
import { ToastProvider } from '../ui/overlay/toasts.tsx';
import { PageSkeleton } from '../ui/page.tsx';
import { Boundary } from './boundary.tsx';
import { Shell } from './Shell.tsx';

// The chat is part of the first load; every other screen comes when it is opened.
const Agents = lazy(() => import('../screens/agents/Agents.tsx').then(({ Agents: screen }) => ({ default: screen })));
const Library = lazy(() => import('../screens/library/Library.tsx').then(({ Library: screen }) => ({ default: screen })));
const Knowledge = lazy(() => import('../screens/knowledge/Knowledge.tsx').then(({ Knowledge: screen }) => ({ default: screen })));
const Runs = lazy(() => import('../screens/runs/Runs.tsx').then(({ Runs: screen }) => ({ default: screen })));
const Usage = lazy(() => import('../screens/usage/Usage.tsx').then(({ Usage: screen }) => ({ default: screen })));
const Account = lazy(() => import('../screens/account/Account.tsx').then(({ Account: screen }) => ({ default: screen })));
const Administration = lazy(() =>
  import('../screens/administration/Administration.tsx').then(({ Administration: screen }) => ({ default: screen })),
);
const Installation = lazy(() =>
  import('../screens/installation/Installation.tsx').then(({ Installation: screen }) => ({ default: screen })),
);

// Public pages need no session.
const SignIn = lazy(() => import('../screens/sign-in/SignIn.tsx').then(({ SignIn: screen }) => ({ default: screen })));
const Consent = lazy(() => import('../screens/sign-in/Consent.tsx').then(({ Consent: screen }) => ({ default: screen })));
const Connect = lazy(() => import('../screens/connect/Connect.tsx').then(({ Connect: screen }) => ({ default: screen })));
const Shared = lazy(() => import('../screens/shared/Shared.tsx').then(({ Shared: screen }) => ({ default: screen })));
const About = lazy(() => import('../screens/about/About.tsx').then(({ About: screen }) => ({ default: screen })));

export function App() {
  return (
    <I18nProvider i18n={i18n}>
      <Provider value={client}>
        <ToastProvider>
          <ConfirmProvider>
            <Switch>
              <Route path="/sign-in">
                <Public>
                  <SignIn />
                </Public>
              </Route>
              <Route path="/oauth/callback">
                <Public>
                  <Connect />
                </Public>
              </Route>
              <Route path="/oauth/consent/:uid">
                <Public>
                  <Consent />
                </Public>
              </Route>
              <Route path="/shared">
                <Public>
                  <Shared />
                </Public>
              </Route>
              <Route path="/about">
                <Public>
                  <About />
                </Public>
              </Route>
              <Route>
                <SessionGate>
                  <Shell>
                    <Screens />
                  </Shell>
                </SessionGate>
              </Route>
            </Switch>
          </ConfirmProvider>
        </ToastProvider>
      </Provider>
    </I18nProvider>
  );
}

function Public({ children }: { readonly children: ReactNode }) {
  const [path] = useLocation();
  return (
    <Boundary resetKey={path}>
      <Suspense fallback={null}>{children}</Suspense>
    </Boundary>
  );
}

function Screens() {
  const [path] = useLocation();
  return (
    <Boundary resetKey={path}>
      <Suspense fallback={<PageSkeleton />}>
        <Switch>
          <Route path="/">
            <Chat />
          </Route>
          <Route path="/chats/:id">{({ id }) => <Chat id={id} />}</Route>
          <Route path="/temporary">
            <Chat isTemporary />
          </Route>
          <Route path="/agents/*?">
            <Agents />
          </Route>
          {['library', 'projects'].map((name) => (
            <Route key={name} path={`/${name}/*?`}>
              <Library />
            </Route>
          ))}
          <Route path="/knowledge/*?">
            <Knowledge />
          </Route>
          <Route path="/documents/*?">
            <Knowledge />
          </Route>
          <Route path="/runs/*?">
            <Runs />
          </Route>
          <Route path="/usage">
            <Usage />
          </Route>
          {['account', 'account/:part', 'administration/keys', 'administration/connections', 'administration/schedules'].map(
            (path) => (
              <Route key={path} path={`/${path}`}>
                <Account />
              </Route>
            ),
          )}
          <Route path="/administration/installation">
            <Installation />
          </Route>
          {['people', 'administration'].map((name) => (
            <Route key={name} path={`/${name}/*?`}>
              <Administration />
            </Route>
          ))}
          {Object.entries(movedAddresses).map(([before, now]) => (
            <Route key={before} path={before}>
              <Moved to={now} />
            </Route>
          ))}
          <Route>
            <Missing />
          </Route>
        </Switch>
      </Suspense>
    </Boundary>
  );
}

/** Where places were before, in bookmarks and in what people wrote to each other. */
const movedAddresses: Readonly<Record<string, string>> = {
  '/keys': '/account/keys',
  '/connections': '/account/connections',
  '/memories': '/account/memories',
  '/shares': '/account/shares',
  '/data/schedules': '/account/schedules',
  '/audit': '/administration/audit',
  '/data': '/administration/data',
  '/data/webhooks': '/administration/webhooks',
  '/installation': '/administration/installation',
};

function Moved({ to }: { readonly to: string }) {
  const search = useSearch();
  return <Redirect to={`${to}${search === '' ? '' : `?${search}`}${location.hash}`} replace />;
}
