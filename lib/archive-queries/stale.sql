-- How many events of the last week were stale, by event and day: they came after a newer one, and changed nothing. The
-- records of an event's later deliveries say so, too: it counts where no record of the week says that it was processed.
-- So may a later attempt of the same message, of its own first one, which the archive did not take: it does not count.
WITH events AS (
  SELECT
    event,
    event_id,
    min("date") AS day,
    bool_or(outcome = 'Stale' AND attempt = 1) AND NOT bool_or(outcome = 'Processed') AS is_stale
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
