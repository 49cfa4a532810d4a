-- The lag of the last week, in milliseconds: from the receipt of an event to its effect, the first of each. Median and
-- 95th percentile are approximate, as Athena computes them. What was redriven waited on its dead-letter queue, too.
WITH events AS (
  SELECT
    event,
    event_id,
    min("date") AS day,
    date_diff(
      'millisecond',
      from_iso8601_timestamp(min(received_at)),
      from_iso8601_timestamp(min(settled_at))
    ) AS lag_ms
  FROM records
  WHERE "date" >= date_format(current_date - INTERVAL '7' DAY, '%Y-%m-%d')
    AND outcome <> 'DeadLettered'
    AND replay.name IS NULL
  GROUP BY event, event_id
)
SELECT
  day,
  event,
  count(*) AS events,
  approx_percentile(lag_ms, 0.5) AS median_ms,
  approx_percentile(lag_ms, 0.95) AS p95_ms,
  max(lag_ms) AS max_ms
FROM events
GROUP BY day, event
ORDER BY day, event
