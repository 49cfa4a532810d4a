-- Which users changed their name most in the last 30 days, by the partner's order of their events. What was too large
-- for a record's body, or has no name, is ignored.
WITH events AS (
  SELECT
    event_id,
    max(sent_at) AS sent_at,
    max(json_extract_scalar(body, '$.data.user_id')) AS user_id,
    max(json_extract_scalar(body, '$.data.display_name')) AS name
  FROM records
  WHERE "date" >= date_format(current_date - INTERVAL '30' DAY, '%Y-%m-%d')
    AND event = 'user.updated'
    AND sent_at IS NOT NULL
    AND replay.name IS NULL
  GROUP BY event_id
),
names AS (
  SELECT
    user_id,
    name,
    sent_at,
    lag(name) OVER (PARTITION BY user_id ORDER BY sent_at, event_id) AS former_name
  FROM events
  WHERE name IS NOT NULL
)
SELECT
  user_id,
  count_if(name <> former_name) AS changes,
  max_by(name, sent_at) AS latest_name
FROM names
GROUP BY user_id
HAVING count_if(name <> former_name) > 0
ORDER BY changes DESC, user_id
LIMIT 100
