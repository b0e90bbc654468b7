import { lazy, type ReactNode, Suspense } from 'react';
import { Provider } from 'urql';
import { Route, Switch, useLocation } from 'wouter';
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
          <Route path="/agents/*?">
            <Agents />
          </Route>
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
          {['account/*?', 'keys/*?', 'connections/*?', 'memories/*?', 'shares', 'data/schedules'].map((path) => (
            <Route key={path} path={`/${path}`}>
              <Account />
            </Route>
          ))}
          {['people', 'audit', 'data'].map((name) => (
            <Route key={name} path={`/${name}/*?`}>
              <Administration />
            </Route>
          ))}
          <Route path="/installation">
            <Installation />
          </Route>
          <Route>
            <Missing />
          </Route>
        </Switch>
      </Suspense>
    </Boundary>
  );
}
