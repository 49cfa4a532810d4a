import { Stack } from 'aws-cdk-lib';
import { type ILogGroup, QueryDefinition, QueryString, type QueryStringProps } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { DEAD_LETTERED, FAILED, REJECTED } from '../../lambda/log-messages.ts';

interface SavedQueriesProps {
  readonly receiver: ILogGroup;
  readonly consumers: readonly ILogGroup[];
  /** The API's access log. */
  readonly access: ILogGroup;
}

interface SavedQuery extends QueryStringProps {
  /** Name of the query in the AWS console: the question that it answers. */
  readonly name: string;
  readonly in: readonly ILogGroup[];
}

/** Lambda's line about an invocation that failed, timed out or crashed. */
const INVOCATION_FAILED = '(type = "platform.report" and record.status != "success")';

/** Maximum rows of a result: one or two screens. */
const LIMIT = 200;

/**
 * CloudWatch Logs Insights queries for an engineer on call, in a folder named after the stack. Users replace the values
 * in capitals. Source: CloudWatch Logs user guide, "Logs Insights language query syntax".
 */
export class SavedQueries extends Construct {
  constructor(scope: Construct, id: string, { receiver, consumers, access }: SavedQueriesProps) {
    super(scope, id);
    const functions = [receiver, ...consumers];
    const queries: Readonly<Record<string, SavedQuery>> = {
      OneEvent: {
        name: 'Follow one event id',
        in: functions,
        fields: ['@timestamp', 'service', 'message', 'event', 'attempt', 'latencyMs', 'error', 'requestId'],
        filterStatements: ['eventId = "EVENT_ID"'],
        sort: '@timestamp asc',
      },
      OneRequest: {
        name: 'Follow one request id',
        in: [access, ...functions],
        fields: ['@timestamp', 'service', 'message', 'status', 'latency', 'event', 'eventId', 'error'],
        filterStatements: ['requestId = "REQUEST_ID"'],
        sort: '@timestamp asc',
      },
      SlowestEffects: {
        name: 'Slowest effects',
        in: consumers,
        fields: ['@timestamp', 'event', 'latencyMs', 'attempt', 'eventId', 'requestId'],
        filterStatements: ['ispresent(latencyMs)'],
        sort: 'latencyMs desc',
      },
      RejectedSignatures: {
        name: 'Rejected signatures by source',
        in: [receiver],
        filterStatements: [`message = "${REJECTED}"`],
        statsStatements: [
          'count(*) as rejected, min(@timestamp) as since, max(@timestamp) as until by sourceIp, reason',
        ],
        sort: 'rejected desc',
      },
      Errors: {
        name: 'Errors by function',
        in: functions,
        filterStatements: [`level = "ERROR" or ${INVOCATION_FAILED}`],
        statsStatements: [
          'count(*) as errors, max(@timestamp) as latest by @log, message, call, error, errorMessage, message.errorType, message.errorMessage, record.status, record.errorType',
        ],
        sort: 'errors desc',
      },
      Failures: {
        name: 'Failed attempts by error',
        in: consumers,
        filterStatements: [`message = "${FAILED}"`],
        statsStatements: [
          'count(*) as failures, count_distinct(eventId) as events, max(attempt) as attempts by event, call, error, errorMessage',
        ],
        sort: 'failures desc',
      },
      DeadLetters: {
        name: 'Dead letters with their reason',
        in: consumers,
        fields: [
          '@timestamp',
          'event',
          'call',
          'error',
          'errorMessage',
          'cause.call',
          'cause.error',
          'attempt',
          'eventId',
          'messageId',
        ],
        filterStatements: [`message = "${DEAD_LETTERED}"`],
        sort: '@timestamp desc',
      },
      Answers: {
        name: 'Answers by status and source',
        in: [access],
        statsStatements: [
          'count(*) as answers, max(latency) as slowest by status, sourceIp, integrationError',
        ],
        sort: 'answers desc',
      },
    };
    for (const [construct, { name, in: logGroups, ...query }] of Object.entries(queries)) {
      new QueryDefinition(this, construct, {
        queryDefinitionName: `${Stack.of(this).stackName}/${name}`,
        queryString: new QueryString({ ...query, limit: LIMIT }),
        logGroups: [...logGroups],
      });
    }
  }
}
