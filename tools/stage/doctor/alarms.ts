import { paginateDescribeAlarms } from '@aws-sdk/client-cloudwatch';
import {
  GetSubscriptionAttributesCommand,
  GetTopicAttributesCommand,
  paginateListSubscriptionsByTopic,
  SNSClient,
  type Subscription,
} from '@aws-sdk/client-sns';
import { ago, counted } from '../../terminal/text.ts';
import { failure, type Inspection, ok, problemsOr, type StageCheck, skipped, warning } from './inspection.ts';

/**
 * Whether each configured address gets the mails of a topic.
 * @param setting that lists the addresses
 * @param what the mails are about
 */
function mailCheck(name: string, output: string, setting: string, what: string): StageCheck {
  async function subscriptionOf(inspection: Inspection, address: string, all: readonly Subscription[]) {
    const SubscriptionArn = all.find(({ Endpoint }) => Endpoint === address)?.SubscriptionArn;
    const topic = inspection.stage.output(output);
    const fix = `aws sns subscribe --topic-arn ${topic} --protocol email --notification-endpoint ${address}`;
    if (!SubscriptionArn?.startsWith('arn:')) {
      const isPending = SubscriptionArn === 'PendingConfirmation';
      const why = `It gets no ${what}. SNS mails a new token. Confirm with it: ${HOW_TO_CONFIRM}.`;
      return failure(`${address} ${isPending ? 'has not confirmed' : 'is not subscribed'}`, { why, fix });
    }
    const query = new GetSubscriptionAttributesCommand({ SubscriptionArn });
    const { Attributes } = await inspection.stage.client(SNSClient).send(query);
    if (Attributes?.ConfirmationWasAuthenticated === 'true') return ok(`${address} is confirmed`);
    return warning(`${address} is confirmed, but a link in each of its mails unsubscribes it`, {
      why: `A mail scanner may follow it, and no alarm notices. Confirm by the token instead: ${HOW_TO_CONFIRM}.`,
      fix: `aws sns unsubscribe --subscription-arn ${SubscriptionArn} && ${fix}`,
    });
  }
  return {
    name,
    needs: ['sns:ListSubscriptionsByTopic', 'sns:GetSubscriptionAttributes'],
    why: `Nobody gets ${what}. Set ${setting} in cdk.json, then deploy.`,
    fix: ({ stageName }) => `npx cdk deploy -c stage=${stageName}`,
    async run(inspection) {
      if (inspection.isLocalStack) return skipped('the local stack sends no mail');
      const topics = await inspection.resources('AWS::SNS::Topic');
      const topic = topics.find(({ physicalId }) => physicalId === inspection.stage.output(output));
      const addresses = (await inspection.resources('AWS::SNS::Subscription'))
        .map(({ properties }) => properties)
        .filter(({ Protocol, TopicArn }) => Protocol === 'email' && TopicArn?.Ref === topic?.logicalId);
      const all = await subscriptionsOf(inspection, output);
      if (addresses.length > 0)
        return Promise.all(addresses.map(({ Endpoint }) => subscriptionOf(inspection, Endpoint, all)));
      const seen = `no address in ${setting}; ${counted(all.length, 'other subscription')}`;
      return (all.length > 0 ? ok : warning)(seen);
    },
  };
}

const HOW_TO_CONFIRM = 'docs/operations.md, "Mail scanners"';

export const alarmChecks: readonly StageCheck[] = [
  mailCheck('alarm mails', 'AlarmTopicArn', 'alarmEmails', 'alarms'),
  mailCheck('review mails', 'ReviewTopicArn', 'reviewEmails', 'reviews'),
  {
    name: 'chat',
    needs: ['sns:ListSubscriptionsByTopic'],
    why: 'Chat rooms are not notified. Somebody changed the channel in Amazon Q Developer in chat applications.',
    fix: ({ stageName }) =>
      `npx cdk drift -c stage=${stageName} && npx cdk deploy -c stage=${stageName} --revert-drift`,
    async run(inspection) {
      const channels = await inspection.resources('AWS::Chatbot::');
      if (channels.length === 0) return skipped('no channel is configured');
      const subscriptions = await subscriptionsOf(inspection, 'ChatTopicArn');
      if (!subscriptions.some(({ Endpoint }) => Endpoint?.includes('chatbot')))
        return failure('not subscribed');
      return ok(`${counted(channels.length, 'channel')}, subscribed`);
    },
  },
  {
    name: 'in ALARM',
    needs: ['cloudwatch:DescribeAlarms'],
    why: 'See its description, and docs/operations.md.',
    async run({ stage }) {
      const query = { AlarmNamePrefix: `${stage.stackName}-` };
      const pages = paginateDescribeAlarms({ client: stage.cloudwatch }, query);
      const all = (await Array.fromAsync(pages)).flatMap(({ MetricAlarms = [] }) => MetricAlarms);
      // CodeDeploy's alarms have no actions. Those of a stage such as `prod-eu` have another topic.
      const topic = stage.output('AlarmTopicArn');
      const alarms = all.filter(({ AlarmActions }) => AlarmActions?.includes(topic));
      // A pause has its own line.
      const paused = new Set(stage.events.map((event) => stage.ofEvent(event, 'PausedAlarm')));
      const on = alarms.filter(
        ({ StateValue, AlarmName = '' }) => StateValue === 'ALARM' && !paused.has(AlarmName),
      );
      const found = on.map(({ AlarmName = '', AlarmDescription = '', StateTransitionedTimestamp }) => {
        const [, impact, step, section] =
          /^Impact: (.*) First step: (.*)\. See (\S+)/.exec(AlarmDescription) ?? [];
        // `PartnerWebhooks-prod-ApiSlow1A2B3C4D-XYZ` → `ApiSlow`.
        const name = AlarmName.replace(query.AlarmNamePrefix, '').replace(/[0-9A-F]{8}(-\w+)?$/, '');
        const seen = `${name}, ${ago(StateTransitionedTimestamp)}`;
        return failure(seen, step === undefined ? {} : { why: `${impact} See ${section}`, fix: step });
      });
      return problemsOr(`none of ${alarms.length}`, found);
    },
  },
  {
    name: 'keys',
    needs: ['kms:DescribeKey', 'kms:GetKeyPolicy', 'sns:GetTopicAttributes'],
    why: 'What it encrypts cannot be used: alarms and notifications are not sent, or no data can be read.',
    async run(inspection) {
      const topic = new GetTopicAttributesCommand({ TopicArn: inspection.stage.output('AlarmTopicArn') });
      const { Attributes } = await inspection.stage.client(SNSClient).send(topic);
      const own = (await inspection.resources('AWS::KMS::Key')).map(({ physicalId }) => physicalId);
      const ofTopic = Attributes?.KmsMasterKeyId ?? '';
      const isKnown = ofTopic === '' || own.some((id) => ofTopic.endsWith(id));
      const ids = [...own, ...(isKnown ? [] : [ofTopic])];
      if (ids.length === 0) return skipped('no key');
      const { KMSClient, DescribeKeyCommand, GetKeyPolicyCommand } = await import('@aws-sdk/client-kms');
      const kms = inspection.stage.client(KMSClient);
      const results = ids.map(async (KeyId) => {
        const { KeyMetadata } = await kms.send(new DescribeKeyCommand({ KeyId }));
        const { KeyState, DeletionDate, Description } = KeyMetadata ?? {};
        const isOfTopic = ofTopic.endsWith(KeyId);
        const seen = `${KeyState}: ${KeyId}${isOfTopic ? ', of the alarm topic' : ''} (${Description})`;
        if (KeyState !== 'Enabled') {
          const cancel = DeletionDate ? `aws kms cancel-key-deletion --key-id ${KeyId} && ` : '';
          const when = DeletionDate ? `, deleted on ${DeletionDate.toISOString()}` : '';
          return failure(`${seen}${when}`, { fix: `${cancel}aws kms enable-key --key-id ${KeyId}` });
        }
        if (!isOfTopic) return ok(seen);
        const { Policy } = await kms.send(new GetKeyPolicyCommand({ KeyId }));
        if (Policy?.includes('cloudwatch.amazonaws.com')) return ok(seen);
        const fix = `aws kms get-key-policy --key-id ${KeyId} --output text`;
        return failure(`${seen}: its policy does not allow cloudwatch.amazonaws.com`, { fix });
      });
      return Promise.all(results);
    },
  },
];

async function subscriptionsOf(inspection: Inspection, topic: string) {
  const query = { TopicArn: inspection.stage.output(topic) };
  const pages = paginateListSubscriptionsByTopic({ client: inspection.stage.client(SNSClient) }, query);
  return (await Array.fromAsync(pages)).flatMap(({ Subscriptions = [] }) => Subscriptions);
}
