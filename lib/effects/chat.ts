import { Stack } from 'aws-cdk-lib';
import { CfnMicrosoftTeamsChannelConfiguration, CfnSlackChannelConfiguration } from 'aws-cdk-lib/aws-chatbot';
import { ManagedPolicy, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import type { Alarms } from '../alarms/alarms.ts';
import { topicLink } from '../alarms/console-links.ts';
import type { StageConfig } from '../config.ts';
import { ProtectedTopic, type StoredProps } from '../pipeline/protected-storage.ts';

interface ChatProps extends StoredProps {
  readonly config: Pick<StageConfig, 'chat'>;
  readonly alarms: Alarms;
}

/** Notifications for chat rooms. */
export function chat(scope: Construct, { config, alarms, ...stored }: ChatProps) {
  const topic = new ProtectedTopic(scope, 'Chat', stored);
  alarms.add(topic, 'Effects/Chat/NotDelivered', { metricsOf: topic, links: [topicLink(topic)] });
  if (config.chat.slack ?? config.chat.teams) {
    showInChannels(new Construct(scope, 'ChatChannels'), topic, config.chat);
  }
  return {
    output: { ChatTopicArn: topic.topicArn },
    environment: { CHAT_TOPIC_ARN: topic.topicArn },
    permissions: topic.publishPermissions,
  };
}

/** Shows a topic's messages in Slack and Teams, by Amazon Q Developer in chat applications. */
function showInChannels(
  scope: Construct,
  topic: ProtectedTopic,
  { slack, teams }: StageConfig['chat'],
): void {
  const role = new Role(scope, 'Role', { assumedBy: new ServicePrincipal('chatbot.amazonaws.com') });
  const common = {
    iamRoleArn: role.roleArn,
    snsTopicArns: [topic.topicArn],
    // People in the channel may do nothing in the account. The default is AdministratorAccess.
    guardrailPolicies: [ManagedPolicy.fromAwsManagedPolicyName('AWSDenyAll').managedPolicyArn],
    loggingLevel: 'ERROR',
  };
  // Names are unique in the account. In another workspace or team, the new configuration is created before the old one
  // is deleted.
  const { stackName } = Stack.of(scope);
  if (slack) {
    new CfnSlackChannelConfiguration(scope, 'Slack', {
      ...common,
      configurationName: `${stackName}-slack-${slack.workspaceId}`,
      slackWorkspaceId: slack.workspaceId,
      slackChannelId: slack.channelId,
    });
  }
  if (teams) {
    new CfnMicrosoftTeamsChannelConfiguration(scope, 'Teams', {
      ...common,
      configurationName: `${stackName}-teams-${teams.teamId}`,
      teamsTenantId: teams.tenantId,
      teamId: teams.teamId,
      // The console shows the id decoded. CloudFormation expects it percent-encoded.
      teamsChannelId: encodeURIComponent(decodeURIComponent(teams.channelId)),
    });
  }
}
