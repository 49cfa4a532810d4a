import type { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { acknowledge } from '../acknowledge.ts';

/** Mails what is published to a topic. Each address has to confirm once, by the link in SNS' first mail. */
export function subscribeEmails(topic: Topic, addresses: readonly string[]): void {
  for (const address of addresses) {
    acknowledge(
      topic.addSubscription(new EmailSubscription(address)),
      'Serverless-SNSRedrivePolicy',
      'SNS tries a mail for hours; the message is for people, who would not look into a queue of it.',
    );
  }
}
