export { accessKeyOf, type ClientSettings, clientSettings } from '../aws-caller.ts';
export { type AwsEndpoint, startAwsEndpoint } from './endpoint.ts';
export { type Fault, InjectedFaults } from './faults.ts';
export { logFilter } from './logs/log-filter.ts';
export { arnOf, REGION } from './service-forms.ts';
