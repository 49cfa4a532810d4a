-- What was replayed in the last 30 days: by the replay's name, its mode, event and outcome. An event counts once in a
-- replay, as processed where it ever was, else by its last outcome.
WITH events AS (
  SELECT
    replay.name AS name,
    replay.mode AS mode,
    event,
    event_id,
    CASE
      WHEN bool_or(outcome = 'Processed') THEN 'Processed'
      ELSE max_by(outcome, settled_at)
    END AS outcome,
    min(settled_at) AS first_settled_at,
    max(settled_at) AS last_settled_at
  FROM records
  WHERE "date" >= date_format(current_date - INTERVAL '30' DAY, '%Y-%m-%d')
    AND replay.name IS NOT NULL
  GROUP BY replay.name, replay.mode, event, event_id
)
SELECT
  name,
  mode,
  event,
  outcome,
  count(*) AS events,
  min(first_settled_at) AS first_settled_at,
  max(last_settled_at) AS last_settled_at
FROM events
GROUP BY name, mode, event, outcome
ORDER BY first_settled_at, name, event, outcome
