import type { RouteRow } from '../route.ts';

/** Every REST operation. A feature adds its rows here, one line each. */
export const allRoutes: readonly RouteRow[] = [];
