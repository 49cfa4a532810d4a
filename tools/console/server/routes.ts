import { deliveryRoutes } from './delivery-routes.ts';
import { faultRoutes } from './fault-routes.ts';
import { queueRoutes } from './queue-routes.ts';
import type { Route } from './route.ts';
import { stackRoutes } from './stack-routes.ts';
import { streamRoutes } from './stream-routes.ts';
import { tableRoutes } from './table-routes.ts';
import { taskRoutes } from './task-routes.ts';

/** All that the API has. */
export const routes: readonly Route[] = [
  ...stackRoutes,
  ...deliveryRoutes,
  ...streamRoutes,
  ...queueRoutes,
  ...tableRoutes,
  ...taskRoutes,
  ...faultRoutes,
];
