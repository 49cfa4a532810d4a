import type { MetricAlarm } from '@aws-sdk/client-cloudwatch';
import {
  GetSubscriptionAttributesCommand,
  paginateListSubscriptionsByTopic,
  SNSClient,
  type Subscription,
} from '@aws-sdk/client-sns';
import { counted } from '../../terminal/text.ts';
import {
  ago,
  allOf,
  failure,
  type Inspection,
  ok,
  problemsOr,
  revertDrift,
  type StageCheck,
  skipped,
  warning,
} from './inspection.ts';

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
    fix: revertDrift,
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
    async run(inspection) {
      const { stage } = inspection;
      const { alarms } = await alarmsOfStack(inspection);
      // A pause has its own line. An alarm without actions is CodeDeploy's.
      const paused = new Set(stage.events.map((event) => stage.ofEvent(event, 'PausedAlarm')));
      const on = alarms.filter(
        ({ StateValue, AlarmName = '', AlarmActions = [] }) =>
          StateValue === 'ALARM' && AlarmActions.length > 0 && !paused.has(AlarmName),
      );
      const found = on.map((alarm) => {
        const [, impact, step, section] =
          /^Impact: (.*) First step: (.*)\. See (\S+)/.exec(alarm.AlarmDescription ?? '') ?? [];
        const seen = `${shortNames(inspection, [alarm])}, ${ago(alarm.StateTransitionedTimestamp)}`;
        return failure(seen, step === undefined ? {} : { why: `${impact} See ${section}`, fix: step });
      });
      return problemsOr(`none of ${alarms.length}`, found);
    },
  },
  {
    name: 'all alarms',
    needs: ['cloudwatch:DescribeAlarms'],
    why: 'Nothing watches this any more: a plain deployment does not restore what somebody deleted.',
    fix: revertDrift,
    async run(inspection) {
      const { names, alarms, all } = await alarmsOfStack(inspection);
      const topic = inspection.stage.output('AlarmTopicArn');
      const missing = names.filter((name) => !alarms.some(({ AlarmName }) => AlarmName === name));
      const withoutActions = alarms.filter(({ ActionsEnabled }) => ActionsEnabled === false);
      const foreign = all.filter(
        ({ AlarmName = '', AlarmActions }) => AlarmActions?.includes(topic) && !names.includes(AlarmName),
      );
      const list = (found: readonly MetricAlarm[]) => found.map(({ AlarmName }) => AlarmName).join(' ');
      const short = (found: readonly MetricAlarm[]) => shortNames(inspection, found);
      const gone = short(missing.map((AlarmName) => ({ AlarmName })));
      const turnOn = {
        why: 'They change their state, but notify nobody.',
        fix: `aws cloudwatch enable-alarm-actions --alarm-names ${list(withoutActions)}`,
      };
      const remove = {
        why: 'They are left over or made by hand, and send mail to the topic of this stage.',
        fix: `aws cloudwatch delete-alarms --alarm-names ${list(foreign)}`,
      };
      return problemsOr(`${names.length}, as deployed`, [
        missing.length > 0 ? failure(`deleted: ${gone}`) : undefined,
        withoutActions.length > 0 ? failure(`turned off: ${short(withoutActions)}`, turnOn) : undefined,
        foreign.length > 0 ? warning(`not of this stack: ${short(foreign)}`, remove) : undefined,
      ]);
    },
  },
];

function subscriptionsOf(inspection: Inspection, topic: string) {
  const query = { TopicArn: inspection.stage.output(topic) };
  const pages = paginateListSubscriptionsByTopic({ client: inspection.stage.client(SNSClient) }, query);
  return allOf(pages, (page) => page.Subscriptions);
}

/** `all` has further alarms whose names begin with the stack's: left over, or of a stage such as `prod-eu`. */
async function alarmsOfStack(inspection: Inspection) {
  const names = (await inspection.resources('AWS::CloudWatch::Alarm')).map(({ physicalId }) => physicalId);
  const all = await inspection.alarms();
  return { names, alarms: all.filter(({ AlarmName = '' }) => names.includes(AlarmName)), all };
}

/** `PartnerWebhooks-prod-ApiSlow1A2B3C4D-XYZ` → `ApiSlow`. */
const shortNames = ({ stage }: Inspection, alarms: readonly MetricAlarm[]) =>
  alarms
    .map(({ AlarmName = '' }) =>
      AlarmName.replace(`${stage.stackName}-`, '').replace(/[0-9A-F]{8}(-\w+)?$/, ''),
    )
    .join(', ');
