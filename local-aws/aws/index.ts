export { accessKeyOf, type ClientSettings, clientSettings, REGION } from '../client-settings.ts';
export { type AwsEndpoint, startAwsEndpoint } from './endpoint.ts';
export { type Fault, InjectedFaults } from './faults.ts';
export { logFilter } from './logs/log-filter.ts';
export { arnOf } from './services.ts';
