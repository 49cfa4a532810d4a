import { Stack } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import type { StageConfig } from '../config.ts';
import { ProtectedTable, type StoredProps } from '../pipeline/protected-storage.ts';

/**
 * Cached shops. A change also invalidates the shop's pages in CloudFront, if the stage has a distribution.
 * @param cloudFront the distribution; undefined if the stage has none
 */
export function shopCache(scope: Construct, stored: StoredProps, cloudFront: StageConfig['cloudFront']) {
  const table = new ProtectedTable(scope, 'ShopCache', { ...stored, key: 'shop_id' });
  const permissions = [table.permission('dynamodb:UpdateItem')];
  if (cloudFront) {
    const distribution = { service: 'cloudfront', region: '', resource: 'distribution' };
    permissions.push(
      new PolicyStatement({
        actions: ['cloudfront:CreateInvalidation'],
        resources: [Stack.of(scope).formatArn({ ...distribution, resourceName: cloudFront.distributionId })],
      }),
    );
  }
  return {
    output: { ShopCacheTable: table.tableName },
    environment: {
      SHOP_CACHE_TABLE: table.tableName,
      ...(cloudFront && {
        DISTRIBUTION_ID: cloudFront.distributionId,
        INVALIDATION_PATHS: JSON.stringify(cloudFront.paths),
      }),
    },
    permissions,
  };
}
