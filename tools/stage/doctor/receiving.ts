import { GetAccountSettingsCommand } from '@aws-sdk/client-lambda';
import { REJECTED, SERVER_ERROR, UNUSABLE } from '../../../lambda/log-messages.ts';
import { messagePattern } from '../../../lib/alarms/log-patterns.ts';
import {
  allOf,
  eventTimes,
  failure,
  ok,
  SEARCHED_DAYS,
  type StageCheck,
  tally,
  warning,
} from './inspection.ts';

/** Requests a second if Service Quotas lists no other quota. Source: API Gateway developer guide, "Quotas". */
const DEFAULT_RATE = 10_000;

/** Concurrent executions of a new account, which are too few. */
const NEW_ACCOUNT = 10;

export const receivingChecks: readonly StageCheck[] = [
  {
    name: 'last deliveries',
    needs: ['logs:StartQuery', 'logs:GetQueryResults', 'logs:StopQuery'],
    why: 'The partner does not send, sends to another address, or is rejected.',
    fix: ({ stage, isLocalStack }) =>
      isLocalStack ? 'npx hookctl send shop.updated' : `npx hookctl tail${stage.commandSuffix} --since 1h`,
    async look(inspection) {
      const last = await inspection.lastDeliveries();
      const { events } = inspection.stage;
      if (!events.some((event) => last.has(event))) return warning(`none accepted in ${SEARCHED_DAYS} days`);
      return ok(`${eventTimes(events, (event) => last.get(event))} (in ${SEARCHED_DAYS} days)`);
    },
  },
  {
    name: 'refused, last hour',
    needs: ['logs:FilterLogEvents'],
    why: 'Deliveries got 401 or 400. If they are the partner’s, these events are missing; if not, nothing got in.',
    fix: ({ stage }) => `npx hookctl tail${stage.commandSuffix} --since 1h`,
    async look(inspection) {
      const messages: readonly unknown[] = [REJECTED, UNUSABLE, SERVER_ERROR];
      const pattern = messagePattern(REJECTED, UNUSABLE, SERVER_ERROR);
      // An emulator may ignore the pattern.
      const reasons = (await inspection.logLines(inspection.stage.receiverLogGroup, pattern, 1))
        .filter(({ message }) => messages.includes(message))
        .map(({ message, reason }) => String(message === REJECTED ? reason : message));
      if (reasons.length === 0) return ok('none');
      if (!reasons.includes(SERVER_ERROR)) return warning(tally(reasons));
      const why = 'Deliveries got 500, which the partner repeats. See "Server errors" in docs/operations.md.';
      return failure(tally(reasons), { why });
    },
  },
  {
    name: 'API throttle',
    needs: ['servicequotas:ListServiceQuotas'],
    why: 'The account’s quota throttles all its APIs together, before this stage’s limit and its alarm.',
    fix: () =>
      'aws service-quotas list-service-quotas --service-code apigateway --query "Quotas[?contains(QuotaName,\'Throttle\')]"',
    async look(inspection) {
      const [rate = 0] = (await inspection.resources('AWS::ApiGateway')).flatMap(
        ({ properties: { DefaultRouteSettings, MethodSettings } }) =>
          DefaultRouteSettings?.ThrottlingRateLimit ?? MethodSettings?.[0]?.ThrottlingRateLimit ?? [],
      );
      const { ServiceQuotasClient, paginateListServiceQuotas } = await import(
        '@aws-sdk/client-service-quotas'
      );
      const client = inspection.client(ServiceQuotasClient);
      const pages = paginateListServiceQuotas({ client }, { ServiceCode: 'apigateway' });
      const quotas = await allOf(pages, (page) => page.Quotas);
      const { Value: quota = DEFAULT_RATE } =
        quotas.find(({ QuotaName }) => QuotaName === 'Throttle rate') ?? {};
      return (rate > quota ? warning : ok)(`${rate} requests a second; the account’s quota is ${quota}`);
    },
  },
  {
    name: 'concurrency',
    needs: ['lambda:GetAccountSettings'],
    why: 'Busy consumers leave no concurrency for the receiver, and deliveries are throttled.',
    fix: () =>
      'aws service-quotas request-service-quota-increase --service-code lambda --quota-code L-B99A9384 --desired-value 1000',
    async look(inspection) {
      const { AccountLimit } = await inspection.stage.lambda.send(new GetAccountSettingsCommand({}));
      const { ConcurrentExecutions: all = 0, UnreservedConcurrentExecutions: free = 0 } = AccountLimit ?? {};
      const settings = (await inspection.resources('AWS::Lambda::')).map(({ properties }) => properties);
      const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0);
      const reserved = sum(settings.map((one) => one.ReservedConcurrentExecutions ?? 0));
      const used = sum(settings.map((one) => one.ScalingConfig?.MaximumConcurrency ?? 0));
      const isEnough = all > NEW_ACCOUNT && (reserved > 0 || free > used);
      const seen = `${all} in the account, ${free} unreserved, ${reserved} reserved here; consumers use up to ${used}`;
      return (isEnough ? ok : warning)(seen);
    },
  },
];
