import { Stack } from 'aws-cdk-lib';
import { CfnMicrosoftTeamsChannelConfiguration, CfnSlackChannelConfiguration } from 'aws-cdk-lib/aws-chatbot';
import { ManagedPolicy, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { ITopic, Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct } from 'constructs';
import { acknowledge } from '../acknowledge.ts';
import type { StageConfig } from '../config.ts';

/** Sends a topic's messages by e-mail. Each recipient must confirm once (docs/operations.md). */
export function subscribeEmails(topic: Topic, addresses: readonly string[]): void {
  for (const address of addresses) {
    acknowledge(
      topic.addSubscription(new EmailSubscription(address)),
      'Serverless-SNSRedrivePolicy',
      'SNS retries mail for hours. Nobody would look into a dead-letter queue of mails.',
    );
  }
}

type ChatChannelsProps = StageConfig['chat'] & { readonly topic: ITopic };

/** Shows a topic's messages in Slack and Teams, by Amazon Q Developer in chat applications. */
export class ChatChannels extends Construct {
  constructor(scope: Construct, id: string, { topic, slack, teams }: ChatChannelsProps) {
    super(scope, id);
    if (!slack && !teams) return;
    const role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('chatbot.amazonaws.com') });
    const common = {
      iamRoleArn: role.roleArn,
      snsTopicArns: [topic.topicArn],
      // People in the channel may do nothing in the account. The default is AdministratorAccess.
      guardrailPolicies: [ManagedPolicy.fromAwsManagedPolicyName('AWSDenyAll').managedPolicyArn],
      loggingLevel: 'ERROR',
    };
    // Names are unique in the account. In another workspace or team, the new configuration is created before the old
    // one is deleted.
    const { stackName } = Stack.of(this);
    if (slack) {
      new CfnSlackChannelConfiguration(this, 'Slack', {
        ...common,
        configurationName: `${stackName}-slack-${slack.workspaceId}`,
        slackWorkspaceId: slack.workspaceId,
        slackChannelId: slack.channelId,
      });
    }
    if (teams) {
      new CfnMicrosoftTeamsChannelConfiguration(this, 'Teams', {
        ...common,
        configurationName: `${stackName}-teams-${teams.teamId}`,
        teamsTenantId: teams.tenantId,
        teamId: teams.teamId,
        // The console shows the id decoded. CloudFormation expects it percent-encoded.
        teamsChannelId: encodeURIComponent(decodeURIComponent(teams.channelId)),
      });
    }
  }
}
