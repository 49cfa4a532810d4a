import type { SQSEvent } from 'aws-lambda';
import { attribute, stringAttribute } from '../../lambda/queue/message.ts';
import type { Replay } from '../../lambda/queue/replay.ts';

/** A batch as a replay sends it; of a delivery (undefined) as it is. */
export function replayedBy(replay: Replay | undefined, event: SQSEvent): SQSEvent {
  if (replay === undefined) return event;
  const { DataType: dataType, StringValue: stringValue } = stringAttribute(JSON.stringify(replay));
  return {
    Records: event.Records.map((record) => ({
      ...record,
      messageAttributes: { ...record.messageAttributes, [attribute.replay]: { dataType, stringValue } },
    })),
  };
}
