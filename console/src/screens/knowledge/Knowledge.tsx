import { lazy, Suspense } from 'react';
import { Route, Switch } from 'wouter';
import { Missing } from '../../parts/Missing.tsx';
import { Skeleton } from '../../ui/feedback.tsx';
import { SourceListScreen } from './List.tsx';
import { SearchScreen } from './search/SearchScreen.tsx';
import { SourceScreen } from './source/SourceScreen.tsx';

// The reader of PDF files comes with the first document.
const DocumentScreen = lazy(() =>
  import('./document/DocumentScreen.tsx').then(({ DocumentScreen: screen }) => ({ default: screen })),
);

/** What agents answer from: the sources, one source, a search that says why, and a document at a passage. */
export function Knowledge() {
  return (
    <Switch>
      <Route path="/documents/:id">
        {({ id }) => (
          <Suspense fallback={<Skeleton lines={8} />}>
            <DocumentScreen key={id} id={id} />
          </Suspense>
        )}
      </Route>
      <Route path="/knowledge/search">
        <SearchScreen />
      </Route>
      <Route path="/knowledge/:id/:part?">{({ id, part }) => <SourceScreen key={id} id={id} part={part ?? ''} />}</Route>
      {['/knowledge', '/documents'].map((path) => (
        <Route key={path} path={path}>
          <SourceListScreen />
        </Route>
      ))}
      <Route>
        <Missing />
      </Route>
    </Switch>
  );
}
