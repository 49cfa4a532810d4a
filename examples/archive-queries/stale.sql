-- How many events of the last week were stale, by event and day: they arrived after a newer one, and changed nothing. An event
-- that was processed and then delivered again after a newer one has a stale record, too. So an event does not count if a
-- record of the week says Processed or Duplicate.
WITH events AS (
  SELECT
    event,
    event_id,
    min("date") AS day,
    bool_or(outcome = 'Stale') AND NOT bool_or(outcome IN ('Processed', 'Duplicate')) AS is_stale
  FROM records
  WHERE "date" >= date_format(current_date - INTERVAL '7' DAY, '%Y-%m-%d')
    AND event_id IS NOT NULL
    AND replay.name IS NULL
  GROUP BY event, event_id
)
SELECT day, event, count(*) AS events, count_if(is_stale) AS stale
FROM events
GROUP BY day, event
ORDER BY day, event
