/** SQS's task handles carry the task's id and its source queue, which IAM needs to know. */
export function taskHandle(taskId: string, sourceArn: string): string {
  return Buffer.from(JSON.stringify([taskId, sourceArn])).toString('base64');
}

/** @returns the ARN of the task's source queue, or undefined where this is no task handle */
export function sourceOfTaskHandle(handle: string): string | undefined {
  const parts = /^\["[^"]*","(arn:[^"]*)"\]$/.exec(Buffer.from(handle, 'base64').toString());
  return parts?.[1];
}
