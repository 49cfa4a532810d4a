import { Duration } from 'aws-cdk-lib';
import { ComparisonOperator, Metric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import type { Construct } from 'constructs';
import type { Alarms } from './alarms.ts';
import { certificateLink } from './console-links.ts';

/**
 * Days that are left to put a new certificate in place. ACM renews its own well before, so one that comes this
 * near was imported, or cannot be renewed.
 */
const DAYS_LEFT = 30;

/** Rings when a certificate is about to expire. @param id names what the certificate is for */
export function watchCertificate(scope: Construct, id: string, arn: string, alarms: Alarms): void {
  alarms.add(scope, id, {
    metric: new Metric({
      namespace: 'AWS/CertificateManager',
      metricName: 'DaysToExpiry',
      dimensionsMap: { CertificateArn: arn },
      // ACM publishes it twice a day. Source: ACM user guide, "Supported CloudWatch metrics".
      period: Duration.days(1),
      statistic: 'Minimum',
    }),
    threshold: DAYS_LEFT,
    comparison: ComparisonOperator.LESS_THAN_OR_EQUAL_TO_THRESHOLD,
    // One that has expired has no value any more: that must not look as if it were mended.
    missingData: TreatMissingData.IGNORE,
    impact: 'when the certificate expires, the partner can reach us no more.',
    firstStep: 'see why ACM does not renew the certificate, or import a new one',
    section: 'certificate',
    links: [certificateLink(scope, arn)],
  });
}
