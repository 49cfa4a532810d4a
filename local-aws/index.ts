export { type DeployedStack, deployStack } from './deployed-stack.ts';
export { type LocalStack, type LocalStackOptions, startLocalStack } from './local-stack.ts';
export type {
  Exchange,
  InspectedMessage,
  ItemChange,
  PublishedNotification,
  StackObserver,
} from './observation.ts';
