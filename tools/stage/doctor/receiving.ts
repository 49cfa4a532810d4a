import { GetMetricDataCommand } from '@aws-sdk/client-cloudwatch';
import { GetAccountSettingsCommand } from '@aws-sdk/client-lambda';
import type { EventName } from '../../../lambda/events/catalogue.ts';
import { kebabCase } from '../../../lambda/events/event-names.ts';
import { ACCEPTED, CLOCK_AHEAD } from '../../../lambda/log-messages.ts';
import { ago } from '../../terminal/text.ts';
import { runQuery } from '../history/log-search.ts';
import { failure, type Inspection, ok, type StageCheck, skipped, warning } from './inspection.ts';

/** Concurrent executions of an account. Source: Lambda developer guide, "Lambda quotas". */
const DEFAULT_CONCURRENCY = 1_000;

/** Concurrent executions of a new account, which are too few. */
const NEW_ACCOUNT = 10;

const DAY_SECONDS = 24 * 60 * 60;

/** Days of the receiver's log and metrics that are searched. */
const SEARCHED_DAYS = 7;

export const receivingChecks: readonly StageCheck[] = [
  {
    name: 'last deliveries',
    needs: ['logs:StartQuery', 'logs:GetQueryResults', 'logs:StopQuery'],
    why: 'The partner does not send, sends to another address, or is rejected.',
    fix: ({ stage, isLocalStack }) =>
      isLocalStack ? 'npx hookctl send shop.updated' : `aws logs tail ${stage.receiverLogGroup} --since 1h`,
    async run(inspection) {
      const last = await lastDeliveries(inspection);
      const { events } = inspection.stage;
      if (!events.some((event) => last.has(event))) return warning(`none accepted in ${SEARCHED_DAYS} days`);
      return ok(`${eventTimes(events, (event) => last.get(event))} (in ${SEARCHED_DAYS} days)`);
    },
  },
  {
    name: 'clock ahead',
    needs: ['cloudwatch:GetMetricData'],
    why: 'These timestamps were more than 5 minutes after their receipt. Such an event counts as 5 minutes after it, so it can win over newer ones. Ask the partner to set its clock.',
    fix: () => 'docs/reliability.md, "The windows that remain"',
    async run({ stage }) {
      const MetricDataQueries = stage.events.map((event, index) => {
        const Dimensions = [{ Name: 'service', Value: kebabCase(event) }];
        const Metric = { Namespace: stage.stackName, MetricName: CLOCK_AHEAD, Dimensions };
        return { Id: `m${index}`, Label: event, MetricStat: { Metric, Period: DAY_SECONDS, Stat: 'Sum' } };
      });
      const StartTime = new Date(Date.now() - SEARCHED_DAYS * DAY_SECONDS * 1000);
      const query = new GetMetricDataCommand({ StartTime, EndTime: new Date(), MetricDataQueries });
      const { MetricDataResults = [] } = await stage.cloudwatch.send(query);
      const found = MetricDataResults.map(({ Label, Values = [] }) => ({
        event: Label,
        times: Values.reduce((sum, value) => sum + value, 0),
      })).filter(({ times }) => times > 0);
      if (found.length === 0) return ok(`no timestamp in ${SEARCHED_DAYS} days`);
      const counts = found.map(({ event, times }) => `${event} ${times}`).join(', ');
      return warning(`${counts} (in ${SEARCHED_DAYS} days)`);
    },
  },
  {
    name: 'concurrency',
    needs: ['lambda:GetAccountSettings'],
    why: 'Busy consumers leave no concurrency for the receiver, and deliveries are throttled.',
    async run(inspection) {
      const { AccountLimit } = await inspection.stage.lambda.send(new GetAccountSettingsCommand({}));
      const { ConcurrentExecutions: all = 0, UnreservedConcurrentExecutions: free = 0 } = AccountLimit ?? {};
      const sources = await inspection.resources('AWS::Lambda::EventSourceMapping');
      const used = sources.reduce(
        (sum, { properties }) => sum + (properties.ScalingConfig?.MaximumConcurrency ?? 0),
        0,
      );
      const functions = (await inspection.resources('AWS::Lambda::Function')).map((one) => one.properties);
      const receiver = functions.find(({ Environment }) => Environment?.Variables?.QUARANTINE_QUEUE_URL);
      const reserved = receiver?.ReservedConcurrentExecutions ?? 0;
      const isEnough = all > NEW_ACCOUNT && (reserved > 0 || free > used);
      const seen = `${all} in the account, ${free} unreserved, ${reserved} reserved for the receiver; consumers use up to ${used}`;
      // Service Quotas rejects what is no increase.
      const wanted = Math.max(DEFAULT_CONCURRENCY, all - free + used + 1);
      const fix = `aws service-quotas request-service-quota-increase --service-code lambda --quota-code L-B99A9384 --desired-value ${wanted}`;
      return isEnough ? ok(seen) : warning(seen, { fix });
    },
  },
  {
    name: 'REST access log',
    needs: ['apigateway:GET'],
    why: 'Nothing writes it, so the alarms for throttled, blocked and failed requests cannot fire.',
    fix: () => 'docs/deploying.md, "Which gateway"',
    async run(inspection) {
      const apis = await inspection.resources('AWS::ApiGateway::RestApi');
      if (apis.length === 0) return skipped('an HTTP API needs no role for it');
      const { APIGatewayClient, GetAccountCommand } = await import('@aws-sdk/client-api-gateway');
      const account = await inspection.stage.client(APIGatewayClient).send(new GetAccountCommand({}));
      return account.cloudwatchRoleArn
        ? ok('the account has a role for it')
        : failure('the account has no role for it');
    },
  },
];

/** When each event was last accepted. An event without a delivery in {@link SEARCHED_DAYS} is missing. */
async function lastDeliveries({ stage, signal }: Inspection): Promise<ReadonlyMap<string, Date>> {
  const now = Math.ceil(Date.now() / 1000);
  const query = {
    logGroupNames: [stage.receiverLogGroup],
    queryString: `fields @timestamp, event | filter message = "${ACCEPTED}" | sort @timestamp desc | dedup event`,
    startTime: now - SEARCHED_DAYS * DAY_SECONDS,
    endTime: now,
  };
  const { results = [] } = (await runQuery(stage, query, signal)) ?? {};
  return new Map(
    results.map((row) => {
      const value = (name: string) => row.find(({ field }) => field === name)?.value ?? '';
      return [value('event'), new Date(`${value('@timestamp').replace(' ', 'T')}Z`)];
    }),
  );
}

/** `shop.updated 5 min ago; girl.created, girl.deleted never`. */
function eventTimes(events: readonly EventName[], timeOf: (event: EventName) => Date | undefined) {
  const [known, unknown] = [events.filter(timeOf), events.filter((event) => timeOf(event) === undefined)];
  const times = known.map((event) => `${event} ${ago(timeOf(event))}`);
  return [...times, unknown.length > 0 ? `none of ${unknown.join(', ')}` : []].flat().join('; ');
}
