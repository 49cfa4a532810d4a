import { deliveryRoutes } from './delivery-routes.ts';
import type { Route } from './route.ts';
import { stackRoutes } from './stack-routes.ts';
import { streamRoutes } from './stream-routes.ts';

/** All that the API has. */
export const routes: readonly Route[] = [...stackRoutes, ...deliveryRoutes, ...streamRoutes];
