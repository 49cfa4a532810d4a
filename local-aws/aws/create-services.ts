import type { StackObserver } from '../observation.ts';
import { createAlarms } from './alarms.ts';
import { createAuthorization } from './authorization.ts';
import { createDynamodb } from './dynamodb/dynamodb.ts';
import { AwsError } from './errors.ts';
import { createEventSourceMappings } from './event-source-mappings.ts';
import { createFauxqs } from './fauxqs.ts';
import { createFirehose } from './firehose/firehose.ts';
import { createLogs } from './logs/logs.ts';
import { formOf } from './request.ts';
import { type AwsResponse, documentResponse } from './response.ts';
import { createS3 } from './s3.ts';
import { createSecretsManager } from './secrets-manager.ts';
import { ACCOUNT_ID, type AwsRequest, type Operations, SERVICES, type Service } from './service-forms.ts';
import { publishedNotification, sns } from './sns.ts';
import { createSqs } from './sqs.ts';
import { createStacks } from './stacks.ts';

/**
 * The services of the AWS endpoint, without HTTP.
 * @param host of the endpoint for clients, with its port
 */
export function createAwsServices(
  host: string,
  onProblem: (message: string) => void,
  observer: Pick<StackObserver, 'onItemChange' | 'onNotification'> | undefined,
) {
  const secrets = createSecretsManager();
  const authorization = createAuthorization(secrets.arnOf);
  const logs = createLogs();
  const dynamodb = createDynamodb(
    observer &&
      ((change, accessKeyId) => {
        if (authorization.isRole(accessKeyId)) observer.onItemChange(change);
      }),
  );
  const fauxqs = createFauxqs(host);
  const sqs = createSqs(fauxqs, host);
  const s3 = createS3(fauxqs);
  const alarms = createAlarms(({ topicArn, subject, text }) =>
    sns(
      fauxqs,
      new URLSearchParams({ Action: 'Publish', TopicArn: topicArn, Subject: subject, Message: text }),
    ),
  );
  const mappings = createEventSourceMappings();
  const stacks = createStacks();
  const firehose = createFirehose(authorization, s3, onProblem);
  const operations: Record<Exclude<Service, 'sns' | 's3'>, Operations> = {
    sqs: sqs.operations,
    dynamodb: dynamodb.operations,
    secretsmanager: secrets.operations,
    logs: logs.operations,
    firehose: firehose.operations,
    monitoring: alarms.operations,
    lambda: mappings.operations,
    cloudformation: stacks.operations,
    sts: {
      GetCallerIdentity: (_parameters, accessKeyId) => ({
        Arn: authorization.callerArn(accessKeyId),
        UserId: ACCOUNT_ID,
        Account: ACCOUNT_ID,
      }),
    },
  };

  async function publish(request: AwsRequest): Promise<AwsResponse> {
    const response = await sns(fauxqs, formOf(request.http));
    const isPublished = request.operation === 'Publish' && response.status === 200;
    if (isPublished && authorization.isRole(request.accessKeyId)) {
      observer?.onNotification(publishedNotification(request.parameters));
    }
    return response;
  }

  return {
    authorization,
    logs,
    alarms,
    mappings,
    stacks,
    sqs,
    /**
     * Carries out a request that was authorised before.
     * @throws AwsError
     */
    async carryOut(request: AwsRequest): Promise<AwsResponse> {
      if (request.service === 's3') return s3.answer(request.http);
      if (request.service === 'sns') return publish(request);
      const offered = operations[request.service];
      const { operation, parameters, accessKeyId } = request;
      const run = Object.hasOwn(offered, operation) ? offered[operation] : undefined;
      if (run === undefined) {
        throw new AwsError(
          'UnknownOperationException',
          `The local AWS endpoint does not offer ${SERVICES[request.service].title}'s ${operation}, only ${Object.keys(offered).join(', ')}.`,
        );
      }
      return documentResponse(request, await run(parameters, accessKeyId));
    },
    /** Writes the remaining records of Firehose, and ends long polls. */
    async close() {
      await firehose.close();
      await fauxqs.close();
      await dynamodb.close();
    },
  };
}
