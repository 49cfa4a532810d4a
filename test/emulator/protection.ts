import assert from 'node:assert/strict';
import {
  CloudFormationClient,
  DeleteStackCommand,
  UpdateTerminationProtectionCommand,
} from '@aws-sdk/client-cloudformation';
import { DeleteTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { ClientSettings } from './emulator.ts';

/** Has a stack refuse to be deleted, then takes its protection off, as `docs/deploying.md` says. */
export async function unprotect(settings: ClientSettings, StackName: string): Promise<void> {
  const cloudFormation = new CloudFormationClient(settings);
  await assert.rejects(
    cloudFormation.send(new DeleteStackCommand({ StackName })),
    /TerminationProtection is enabled/,
    `${StackName} is not protected`,
  );
  await cloudFormation.send(
    new UpdateTerminationProtectionCommand({ StackName, EnableTerminationProtection: false }),
  );
}

/** Has each of the tables refuse to be deleted. */
export async function mustBeProtected(settings: ClientSettings, tables: readonly string[]): Promise<void> {
  const dynamoDb = new DynamoDBClient(settings);
  for (const TableName of tables) {
    await assert.rejects(
      dynamoDb.send(new DeleteTableCommand({ TableName })),
      /protected against deletion/,
      `${TableName} is not protected`,
    );
  }
}
