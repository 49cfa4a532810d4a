import { Stack } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import { ProtectedTable } from '../pipeline/protected-storage.ts';
import type { EffectProps, EffectTarget } from './effect-target.ts';

/** Cached shops. A change also invalidates the shop's pages in CloudFront, if the stage has a distribution. */
export function shopCache(
  scope: Construct,
  { config: { cloudFront }, ...stored }: EffectProps,
): EffectTarget {
  const table = new ProtectedTable(scope, 'ShopCache', { ...stored, key: 'shop_id' });
  return {
    table,
    output: { ShopCacheTable: table.tableName },
    environment: {
      SHOP_CACHE_TABLE: table.tableName,
      ...(cloudFront && {
        DISTRIBUTION_ID: cloudFront.distributionId,
        INVALIDATION_PATHS: JSON.stringify(cloudFront.paths),
      }),
    },
    permissions: [
      table.permission('dynamodb:UpdateItem'),
      ...(cloudFront ? [invalidatePermission(scope, cloudFront.distributionId)] : []),
    ],
  };
}

function invalidatePermission(scope: Construct, distributionId: string): PolicyStatement {
  const distribution = { service: 'cloudfront', region: '', resource: 'distribution' };
  return new PolicyStatement({
    actions: ['cloudfront:CreateInvalidation'],
    resources: [Stack.of(scope).formatArn({ ...distribution, resourceName: distributionId })],
  });
}
